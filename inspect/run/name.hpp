// Name: a text that many records share.
#pragma once

#include <atomic>
#include <ostream>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace xtape {

/// A text that never changes. Copies share it; each takes the memory of a pointer. It converts to std::string.
class Name {
 public:
  Name() = default;
  Name(std::string text) : text_(text.empty() ? nullptr : new Text{std::move(text)}) {}
  Name(std::string_view text) : Name(std::string(text)) {}
  Name(const char* text) : Name(std::string(text)) {}
  Name(const Name& other) noexcept : text_(other.text_) {
    if (text_) ++text_->owners;
  }
  Name(Name&& other) noexcept : text_(std::exchange(other.text_, nullptr)) {}
  Name& operator=(Name other) noexcept {
    std::swap(text_, other.text_);
    return *this;
  }
  ~Name() {
    if (text_ && --text_->owners == 0) delete text_;
  }

  const std::string& str() const {
    static const std::string none;
    return text_ ? text_->text : none;
  }
  operator const std::string&() const { return str(); }

  /// Whether both are copies of one name. Equal texts may be different names.
  bool same(const Name& other) const { return text_ == other.text_; }

  friend bool operator==(const Name& a, const Name& b) { return a.same(b) || a.str() == b.str(); }
  friend bool operator==(const Name& a, const std::string& b) { return a.str() == b; }
  friend bool operator==(const Name& a, std::string_view b) { return a.str() == b; }
  friend bool operator==(const Name& a, const char* b) { return a.str() == b; }
  friend std::string operator+(const Name& a, const std::string& b) { return a.str() + b; }
  friend std::string operator+(const std::string& a, const Name& b) { return a + b.str(); }
  friend std::ostream& operator<<(std::ostream& out, const Name& name) { return out << name.str(); }

 private:
  struct Text {
    std::string text;
    std::atomic<std::size_t> owners = 1;
  };
  Text* text_ = nullptr;  // null: the empty name
};

/// One name for each text.
class NameTable {
 public:
  const Name& of(std::string_view text) {
    const auto found = names_.find(text);
    if (found != names_.end()) return found->second;
    const Name name(text);
    return names_.emplace(name.str(), name).first->second;
  }

 private:
  std::unordered_map<std::string_view, Name> names_;  // the keys are the texts of the names
};

}  // namespace xtape
