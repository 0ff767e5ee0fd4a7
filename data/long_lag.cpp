#include <xtape/core/error.hpp>
#include <xtape/core/random.hpp>
#include <xtape/data/long_lag.hpp>
#include <xtape/data/sequences.hpp>

#include <algorithm>
#include <string>

namespace xtape {

namespace {

template <class... Got>
void check(const char* task, index_t step, index_t batch, bool sizes_fit, const char* expected, Got... got) {
  if (!sizes_fit) throw ValueError(task, expected, got...);
  if (step < 0 || batch < 1) throw ValueError(task, "a step of at least 0 and a batch of at least 1", step, batch);
}

/// The random stream of one sequence.
Random random_of(const char* task, std::uint64_t seed, index_t step, index_t row) {
  const std::uint64_t of_step = substream(stream_id(task), static_cast<std::uint64_t>(step));
  return {seed, substream(of_step, static_cast<std::uint64_t>(row))};
}

LagBatch empty_batch(index_t batch, index_t steps, index_t filler) {
  const Shape shape = {batch, steps};
  return {full_array<IndexArray>(shape, filler), full_array<IndexArray>(shape, kNotAsked), {}};
}

}  // namespace

AddingBatch adding_batch(index_t step, index_t batch, const AddingOptions& o) {
  check("adding", step, batch, o.steps >= 2, "sequences of at least 2 steps", o.steps);
  AddingBatch out;
  out.inputs.reserve(2 * batch * o.steps);
  for (index_t b = 0; b < batch; ++b) {
    Random random = random_of("adding", o.seed, step, b);
    const index_t lag = 1 + random.below(o.steps - 1);
    const index_t first = o.steps - 1 - lag, second = first + 1 + random.below(lag);
    double sum = 0;
    for (index_t t = 0; t < o.steps; ++t) {
      const bool marked = t == first || t == second;
      const double value = random.uniform();
      out.inputs.insert(out.inputs.end(), {value, marked ? 1.0 : 0.0});
      if (marked) sum += value;
    }
    out.targets.push_back(sum);
    out.lags.push_back(lag);
  }
  return out;
}

LagBatch copy_batch(index_t step, index_t batch, const CopyOptions& o) {
  check("copy", step, batch, o.symbols >= 1 && o.length >= 1 && o.longest >= o.length,
        "symbols, a length, and a longest lag of at least the length", o.symbols, o.length, o.longest);
  LagBatch out = empty_batch(batch, o.steps(), o.symbols);
  for (index_t b = 0; b < batch; ++b) {
    Random random = random_of("copy", o.seed, step, b);
    const index_t lag = o.length + random.below(o.longest - o.length + 1);
    index_t* inputs = out.inputs.data() + b * o.steps();
    index_t* targets = out.targets.data() + b * o.steps();
    inputs[o.longest] = o.symbols + 1;
    for (index_t i = 0; i < o.length; ++i)
      targets[o.longest + i] = inputs[o.longest - lag + i] = random.below(o.symbols);
    out.lags.push_back(lag);
  }
  return out;
}

LagBatch recall_batch(index_t step, index_t batch, const RecallOptions& o) {
  check("recall", step, batch, o.keys >= 1 && o.values >= 1 && o.noise >= 1 && o.steps > o.keys,
        "keys, values, noise, and more steps than keys", o.keys, o.values, o.noise, o.steps);
  LagBatch out = empty_batch(batch, o.steps, 0);
  const index_t last = o.steps - 1, noise = o.keys * o.values, questions = noise + o.noise;
  for (index_t b = 0; b < batch; ++b) {
    Random random = random_of("recall", o.seed, step, b);
    index_t* inputs = out.inputs.data() + b * o.steps;
    for (index_t t = 0; t < last; ++t) inputs[t] = noise + random.below(o.noise);
    const index_t lag = 1 + random.below(last), asked = random.below(o.keys);
    std::vector<index_t> places = shuffled(last, random.bits(), 0);
    std::erase(places, last - lag);
    for (index_t key = 0; key < o.keys; ++key) {
      const index_t value = random.below(o.values);
      inputs[key == asked ? last - lag : places[key]] = key * o.values + value;
      if (key == asked) out.targets.data()[b * o.steps + last] = value;
    }
    inputs[last] = questions + asked;
    out.lags.push_back(lag);
  }
  return out;
}

}  // namespace xtape
