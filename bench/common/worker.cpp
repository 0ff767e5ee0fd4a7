#include "worker.hpp"

#include <chrono>
#include <fstream>
#include <iostream>
#include <sstream>
#include <stdexcept>

namespace bench {

namespace {

/// Peak resident size in megabytes (10^6 bytes).
double peak_memory() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024 / 1e6;
  throw std::runtime_error("/proc/self/status has no VmHWM");
}

std::string list_of_names() {
  std::string out = "list";
  for (const std::string& name : workload_names()) out += " " + name;
  return out;
}

std::string answer(const std::string& word, std::initializer_list<double> numbers) {
  std::ostringstream out;
  out.precision(9);
  out << word;
  for (const double number : numbers) out << " " << number;
  return out.str();
}

class Session {
 public:
  explicit Session(const Worker& worker) : worker_(worker) {}

  std::string obey(const std::string& line) {
    std::istringstream words(line);
    std::string command, name, size;
    words >> command;
    if (command == "about") return "about " + worker_.about;
    if (command == "list") return list_of_names();
    if (command == "memory") return answer("memory", {peak_memory()});
    if (command == "setup" && words >> name) return set_up(name, words >> size && size == "tiny");
    if (std::int64_t count; command == "run" && words >> count && count > 0) return run(count);
    const auto extra = worker_.commands.find(command);
    if (extra == worker_.commands.end()) throw std::invalid_argument("cannot obey '" + line + "'");
    return answer(command, {extra->second()});
  }

 private:
  std::string set_up(const std::string& name, bool tiny) {
    workload_ = nullptr;  // frees its memory before the next one allocates
    const Sizes sizes = sizes_of(name, tiny);
    workload_ = worker_.make(sizes);
    workload_->step();
    return answer("ready", {workload_->loss(), workload_->gradient_norm(), static_cast<double>(workload_->parts()),
                            flops_of(products_of(sizes))});
  }

  std::string run(std::int64_t count) {
    if (!workload_) throw std::invalid_argument("nothing is set up");
    return answer("time", {milliseconds(count, [&] { workload_->step(); })});
  }

  const Worker& worker_;
  std::unique_ptr<Workload> workload_;
};

}  // namespace

double milliseconds(std::int64_t count, const std::function<void()>& call) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < count; ++i) call();
  const std::chrono::duration<double, std::milli> time = std::chrono::steady_clock::now() - begin;
  return time.count() / static_cast<double>(count);
}

int serve(const Worker& worker) {
  Session session(worker);
  try {
    for (std::string line; std::getline(std::cin, line);) std::cout << session.obey(line) << std::endl;
  } catch (const std::exception& error) {
    std::cout << "error " << error.what() << std::endl;
    return 1;
  }
  return 0;
}

}  // namespace bench
