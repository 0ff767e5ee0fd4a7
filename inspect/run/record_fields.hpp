// The fields of the records in metrics.jsonl and events.jsonl, for the writer and the reader of both.
#pragma once

#include <xtape/inspect/run/records.hpp>

#include <string>
#include <type_traits>
#include <vector>

namespace xtape {

// Each type has one list of its fields, `fields(io, x)`, which both the writer and the reader use.

template <class Record, class Wanted>
concept Like = std::is_same_v<std::remove_const_t<Record>, Wanted>;

template <class Io>
void fields(Io& io, Like<ParameterStats> auto& x) {
  io.field("grad_norm_preclip", x.grad_norm);
  io.field("grad_max_preclip", x.grad_max);
  io.field("grad_nonfinite_preclip", x.grad_nonfinite);
  io.field("grad_zero_share_preclip", x.grad_zero_share);
  if (x.grad_max) io.histogram(x.grad_histogram);
  io.field("weight_norm", x.weight_norm);
  io.field("update_norm", x.update_norm);
  io.field("update_ratio", x.update_ratio);
  io.field("decay_norm", x.decay_norm);
  io.field("lr_scale", x.lr_scale);
  io.field("equal_rows", x.equal_rows);
  io.field("untouched_rows", x.untouched_rows);
  io.flag("unoptimized", x.unoptimized);
}

template <class Io>
void fields(Io& io, Like<LayerStats> auto& x) {
  io.field("mean", x.mean);
  io.field("deviation", x.stddev);
  io.field("output_grad_norm", x.output_grad_norm);
  io.field("largest", x.largest);
}

template <class Io>
void fields(Io& io, Like<UnitStats> auto& x) {
  io.field("low", x.low);
  io.field("high", x.high);
  io.field("dead", x.dead);
  io.field("dead_lately", x.dead_lately);
  if (x.dead_lately) {
    io.field("batches", x.batches);
    io.field("rows", x.rows);
  }
}

template <class Io>
void fields(Io& io, Like<InputStats> auto& x) {
  io.field("mean", x.mean);
  io.field("deviation", x.stddev);
  io.field("low", x.low);
  io.field("high", x.high);
  io.field("nonfinite", x.nonfinite);
  io.field("repeats", x.repeats);
}

template <class Io>
void fields(Io& io, Like<OptimizerInfo> auto& x) {
  io.field("name", x.name);
  io.numbers("options", x.options);
}

// The keys of a recurrent layer are those of its streams.
template <class Io>
void fields(Io& io, const TimeStats& x) {
  for (const auto& [kind, norms] : x.kinds()) io.filled(kind.c_str(), *norms);
}
template <class Io>
void fields(Io& io, TimeStats& x) {
  for (const std::string& key : io.keys())
    if (std::vector<double>* norms = x.norms_of(key)) io.field(key.c_str(), *norms);
}

template <class Io>
void fields(Io& io, Like<AttentionStats> auto& x) {
  io.field("entropy", x.entropy);
  io.field("entropy_share", x.entropy_share);
  io.field("largest_logit", x.largest_logit);
}

template <class Io>
void fields(Io& io, Like<IntervalStats> auto& x) {
  io.field("steps", x.steps);
  io.field("clipped", x.clipped);
  io.field("skipped", x.skipped);
  io.field("still", x.still);
  io.field("loss_min", x.loss_min);
  io.field("loss_max", x.loss_max);
  io.field("grad_norm_preclip_min", x.grad_norm_min);
  io.field("grad_norm_preclip_max", x.grad_norm_max);
  io.field("grad_cosine_preclip", x.grad_cosine);
  io.field("cosines", x.cosines);
}

template <class Io>
void fields(Io& io, Like<Wall> auto& x) {
  io.field("seconds", x.seconds);
  io.field("memory_bytes", x.memory_bytes);
  io.field("tokens_per_second", x.tokens_per_second);
}

template <class Io>
void fields(Io& io, Like<StepRecord> auto& x) {
  io.field("step", x.step);
  io.field("loss", x.loss);
  io.field("validation_loss", x.validation_loss);
  io.field("lr", x.lr);
  io.field("grad_norm_preclip", x.grad_norm);
  io.field("clip_factor", x.clip_factor);
  io.field("loss_z", x.loss_z);
  io.field("grad_norm_z", x.grad_norm_z);
  io.field("classes", x.classes);
  io.field("targets", x.targets);
  io.field("dropout", x.dropout);
  io.flag("evaluation", x.evaluation);
  io.numbers("extra", x.extra);
  io.object("optimizer", x.optimizer);
  io.object("input", x.input);
  io.object("interval", x.interval);
  io.named("parameters", x.parameters);
  io.named("layers", x.layers);
  io.named("units", x.units);
  io.named("times", x.times);
  io.named("attention", x.attention);
  io.object("wall", x.wall);
}

template <class Io>
void fields(Io& io, Like<EventRecord> auto& x) {
  io.field("step", x.step);
  io.field("kind", x.kind);
  io.field("text", x.text);
  io.filled("layer", x.layer);
  io.filled("op", x.op);
  io.filled("file", x.file);
  io.field("value", x.value);
}

}  // namespace xtape
