// Trains a GRU to forecast the next day of an hourly series, beside the seasonal-naive forecast (tomorrow is as today).
// Run: scripts/get_data.sh temperatures && build/release/examples/forecast
#include <xtape/inspect/report/line_plot.hpp>
#include <xtape/xtape.hpp>

#include <iomanip>
#include <iostream>

using namespace xtape;

/// inputs [B, T, 2] -> the difference of the next H values from their seasonal-naive forecast, standardized [B, H].
using Forecaster = std::function<Tensor(const Array& inputs)>;

struct Errors {
  double absolute = 0, squared = 0;  ///< means over all forecast values: |error|, error^2, in the units of the series
};

/// Errors of a model; if it is empty, of the seasonal-naive forecast.
Errors errors_of(const SeriesData& data, const std::vector<index_t>& windows, const Forecaster& model) {
  Errors out;
  double count = 0;
  for (const std::vector<index_t>& some : groups_of(100, windows)) {
    const SeriesBatch batch = series_batch(data, some);
    const Array told = model ? model(batch.inputs).value() : full_array(batch.changes.shape(), 0);
    for (std::size_t i = 0; i < told.size(); ++i, ++count) {
      const double error = static_cast<double>(told.data()[i] - batch.changes.data()[i]) * data.change_stddev();
      out.absolute += std::abs(error);
      out.squared += error * error;
    }
  }
  return {out.absolute / count, out.squared / count};
}

/// A picture of the forecasts of some windows, one after the other, as SVG.
std::string plot(const SeriesData& data, const std::vector<index_t>& windows, const Forecaster& model) {
  const Array changes = model(series_batch(data, windows).inputs).value();
  PlotLine naive{{}, "#bbbbbb"}, truth{{}, "black"}, told{{}, "#d62728"};
  for (const index_t window : windows)
    for (index_t t = 0; t < data.options().horizon; ++t) {
      const double change = static_cast<double>(changes.data()[told.values.size()]) * data.change_stddev();
      truth.values.push_back(data.truth(window, t));
      naive.values.push_back(data.seasonal_naive(window, t));
      told.values.push_back(naive.values.back() + change);
    }
  return line_plot({naive, truth, told}, "truth black, forecast red, seasonal-naive forecast gray; " +
                                             std::to_string(windows.size()) + " forecasts of " +
                                             std::to_string(data.options().horizon) + " values each");
}

void train(int argc, char** argv) {
  Args args("forecast", "Trains a recurrent network to forecast a seasonal series.",
            {.steps = 1500, .quick_steps = 30});
  args.group("Data");
  const auto file = args.text("data", "temperatures.csv",
                              "CSV with a header, a row an hour; scripts/get_data.sh temperatures gets the default");
  const auto column = args.text("column", "temp", "the column to forecast");
  const auto context = args.integer("context", 72, {1, 4096}, "values that a forecast sees");
  const auto horizon = args.integer("horizon", 24, {1, 1024}, "values that it tells");
  const auto season = args.integer("season", 24, {1, 4096}, "values in a season; at most the context");
  const auto batch_size = args.integer("batch", 64, {1, 4096}, "windows in a step");
  args.group("Model");
  const auto hidden = args.integer("hidden", 32, {1, 4096}, "width of the state");
  args.group("Optimization");
  const auto lr = args.number("lr", 2e-3, {0, 1}, "learning rate after 50 steps of warm-up; then it falls to 0");
  args.group("Log");
  const auto log_interval = args.integer("log-interval", 100, {1, 1'000'000}, "steps from one line to the next");
  const auto val_interval = args.integer("val-interval", 500, {1, 1'000'000}, "steps from one validation to the next");
  args.group("Checkpoints");
  const auto save_interval =
      args.integer("save-interval", 500, {1, 1'000'000}, "steps from one checkpoint to the next");
  args.resumable({"data"});
  args.parse(argc, argv);

  const SeriesData data =
      load_series(file, column, {.context = context, .horizon = horizon, .season = season, .seed = args.seed()});
  ParamStore store(args.seed());
  const GRU rnn(store.root() / "rnn", 2, hidden);
  const Linear head(store.root() / "head", hidden, horizon);
  const Forecaster model = [&](const Array& inputs) { return head(rnn(Tensor(inputs)).state.h.back()); };
  AdamW opt(decay_groups(store, 0.01));
  RunLog log(args, store, {.interval = log_interval});
  Checkpoints checkpoints(args, store, opt, log, {.interval = save_interval});

  for (index_t step = checkpoints.resume(); step < args.steps(); ++step) {
    std::optional<double> error;  // of the validation windows
    if (step % val_interval == 0 || step + 1 == args.steps()) {
      error = errors_of(data, data.windows(SeriesData::Part::validation, 7), model).absolute / data.change_stddev();
      checkpoints.validated(step, *error);
    }
    const SeriesBatch batch = series_batch(data, data.train_windows(step, batch_size));
    Tape tape;
    const Tensor loss = l1_loss(model(batch.inputs), Tensor(batch.changes));
    tape.backward(loss);
    const double norm = clip_grad_norm(store, 1);
    const double rate = cosine(step, {.warmup = 50, .total = args.steps(), .peak = lr});
    if (log.accepts(step, loss.item(), norm)) opt.step(rate);
    log.step(
        step,
        {.loss = loss.item(), .validation_loss = error, .lr = rate, .grad_norm = norm, .tokens = batch_size * context},
        opt);
    store.zero_grad();
    checkpoints.step(step);
  }
  log.finish();

  const std::vector<index_t> shown = groups_of(7, data.windows(SeriesData::Part::test, horizon)).front();
  write_file(log.directory() + "/forecast.svg", plot(data, shown, model));
  std::cout << "forecast against truth is drawn in " << log.directory() << "/forecast.svg\n";
  const std::vector<index_t> test = data.windows(SeriesData::Part::test);
  const Errors told = errors_of(data, test, model), naive = errors_of(data, test, {});
  std::cout << std::fixed << std::setprecision(4) << "mean absolute error on " << test.size()
            << " held-out windows: " << told.absolute << " (seasonal naive: " << naive.absolute
            << "), root of the mean square " << std::sqrt(told.squared)
            << " (seasonal naive: " << std::sqrt(naive.squared) << ")" << std::endl;
}

int main(int argc, char** argv) { return run_program(train, argc, argv); }
