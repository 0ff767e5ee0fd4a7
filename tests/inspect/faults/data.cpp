// The data of the bench: examples that depend on a seed and their number only.
#include "recipe.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace xtape::faults {

namespace {

constexpr index_t kSide = 8, kPixels = kSide * kSide;
constexpr index_t kFirstValidation = 1'000'000'000;  ///< number of an example

/// Glyphs of 5 x 7 pixels, a byte for each row.
constexpr std::array<std::array<int, 7>, 10> kGlyphs = {{{0x0E, 0x11, 0x13, 0x15, 0x19, 0x11, 0x0E},
                                                         {0x04, 0x0C, 0x04, 0x04, 0x04, 0x04, 0x0E},
                                                         {0x0E, 0x11, 0x01, 0x02, 0x04, 0x08, 0x1F},
                                                         {0x1F, 0x02, 0x04, 0x02, 0x01, 0x11, 0x0E},
                                                         {0x02, 0x06, 0x0A, 0x12, 0x1F, 0x02, 0x02},
                                                         {0x1F, 0x10, 0x1E, 0x01, 0x01, 0x11, 0x0E},
                                                         {0x06, 0x08, 0x10, 0x1E, 0x11, 0x11, 0x0E},
                                                         {0x1F, 0x01, 0x02, 0x04, 0x08, 0x08, 0x08},
                                                         {0x0E, 0x11, 0x11, 0x0E, 0x11, 0x11, 0x0E},
                                                         {0x0E, 0x11, 0x11, 0x0F, 0x01, 0x02, 0x0C}}};

/// The letters of all sentences.
const std::string kLetters = " .abcdefghiklnorst";
constexpr index_t kSymbols = 4;                                   ///< to recall, or to count
constexpr index_t kFillers = 4, kQuestion = kSymbols + kFillers;  ///< ids of the recall task

/// Pixels 0 to 1 of a digit at one of a few places, of random brightness, with noise.
index_t draw_image(Random& random, real* pixels) {
  const index_t digit = random.below(10);
  const index_t left = random.below(3), top = random.below(2);
  const double brightness = random.uniform(0.6, 1);
  for (index_t i = 0; i < kPixels; ++i) pixels[i] = static_cast<real>(std::abs(0.12 * random.normal()));
  for (index_t row = 0; row < 7; ++row)
    for (index_t column = 0; column < 5; ++column)
      if (kGlyphs[digit][row] >> (4 - column) & 1)
        pixels[(top + row) * kSide + left + column] += static_cast<real>(brightness);
  return digit;
}

std::string sentence(Random& random) {
  static const std::vector<std::string> nouns = {"cat", "dog", "bird", "fish", "king"},
                                        verbs = {"sees", "likes", "chases", "finds"};
  const auto pick = [&](const std::vector<std::string>& words) { return words[random.below(std::ssize(words))]; };
  std::string out = "the " + pick(nouns) + " " + pick(verbs) + " a " + pick(nouns);
  if (random.below(3) == 0) out += " and a " + pick(nouns);
  return out + ". ";
}

/// Letters of sentences from a random place on, with one more for the target of the last.
std::vector<index_t> draw_text(Random& random, index_t letters) {
  std::string text = sentence(random);
  const index_t begin = random.below(std::ssize(text));
  while (std::ssize(text) < begin + letters + 1) text += sentence(random);
  std::vector<index_t> out;
  for (index_t t = 0; t <= letters; ++t) out.push_back(static_cast<index_t>(kLetters.find(text[begin + t])));
  return out;
}

/// Ids in which one symbol occurs more often than the others, and that symbol.
index_t draw_majority(Random& random, index_t time, index_t* ids) {
  while (true) {
    std::array<index_t, kSymbols> counts = {};
    for (index_t t = 0; t < time; ++t) ++counts[ids[t] = random.below(kSymbols)];
    const auto most = std::max_element(counts.begin(), counts.end());
    const index_t symbol = most - counts.begin();
    if (std::count_if(counts.begin(), counts.end(), [&](index_t n) { return n > *most - 2; }) == 1) return symbol;
  }
}

Batch empty_batch(const Data& data, index_t size) {
  Batch out;
  const Shape by_step = {size, data.time}, vectors = {size, data.time, 1};
  if (data.task == Task::images) out.x = empty_array({size, kPixels});
  if (data.task == Task::series) out.x = empty_array(vectors), out.values = empty_array(vectors);
  if (sizes_of(data.task).vocab > 0) out.ids = empty_array<IndexArray>(by_step);
  if (data.task == Task::text || data.task == Task::recall) out.targets = empty_array<IndexArray>(by_step);
  if (data.task == Task::images || data.task == Task::majority) out.targets = empty_array<IndexArray>({size});
  return out;
}

void draw_recall(Random& random, index_t time, index_t* ids, index_t* targets) {
  for (index_t t = 0; t < time; ++t) {
    ids[t] = kSymbols + random.below(kFillers);
    targets[t] = kIgnore;
  }
  ids[0] = random.below(kSymbols);
  ids[time - 1] = kQuestion;
  targets[time - 1] = ids[0];
}

void draw_series(Random& random, index_t time, real* x, real* next) {
  const double period = random.uniform(8, 16), phase = random.uniform(0, 2 * std::numbers::pi);
  const auto value = [&](index_t t) {
    return std::sin(2 * std::numbers::pi * static_cast<double>(t) / period + phase) + 0.1 * random.normal();
  };
  double now = value(0);
  for (index_t t = 0; t < time; ++t) {
    x[t] = static_cast<real>(now);
    now = value(t + 1);
    next[t] = static_cast<real>(now);
  }
}

/// Writes the example of a number into row b.
void draw(const Data& data, index_t number, index_t b, Batch& out) {
  Random random(data.seed, substream(stream_id("example"), static_cast<std::uint64_t>(number)));
  const index_t time = data.time;
  switch (data.task) {
    case Task::images:
      out.targets.data()[b] = draw_image(random, out.x.data() + b * kPixels);
      break;
    case Task::text: {
      const std::vector<index_t> letters = draw_text(random, time);
      std::copy(letters.begin(), letters.end() - 1, out.ids.data() + b * time);
      std::copy(letters.begin() + 1, letters.end(), out.targets.data() + b * time);
      break;
    }
    case Task::recall:
      draw_recall(random, time, out.ids.data() + b * time, out.targets.data() + b * time);
      break;
    case Task::series:
      draw_series(random, time, out.x.data() + b * time, out.values.data() + b * time);
      break;
    case Task::majority:
      out.targets.data()[b] = draw_majority(random, time, out.ids.data() + b * time);
      break;
  }
}

Batch batch_of(const Data& data, index_t first, index_t size, bool of_training) {
  Batch out = empty_batch(data, size);
  Random choice(data.seed, substream(stream_id("choice"), static_cast<std::uint64_t>(first)));
  for (index_t b = 0; b < size; ++b) {
    const index_t number = of_training && data.count > 0 ? choice.below(data.count) : first + b;
    draw(data, number, b, out);
  }
  return out;
}

}  // namespace

TaskSizes sizes_of(Task task) {
  const index_t letters = std::ssize(kLetters);
  switch (task) {
    case Task::images:
      return {kPixels, 0, 10};
    case Task::text:
      return {0, letters, letters};
    case Task::recall:
      return {0, kQuestion + 1, kSymbols};
    case Task::series:
      return {1, 0, 0};
    case Task::majority:
      break;
  }
  return {0, kSymbols, kSymbols};
}

Batch train_batch(const Data& data, index_t step, index_t size) { return batch_of(data, step * size, size, true); }

Batch validation_batch(const Data& data, index_t size) { return batch_of(data, kFirstValidation, size, false); }

}  // namespace xtape::faults
