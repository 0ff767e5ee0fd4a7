// Trains a recurrent network to forecast the next day of an hourly series, beside the seasonal-naive forecast: tomorrow
// will be as today. The network tells what will differ from it.
#include <xtape/xtape.hpp>

#include <iomanip>
#include <iostream>
#include <sstream>

using namespace xtape;

/// inputs [B, T, 2] -> the change against the seasonal-naive forecast [B, H].
class Forecaster {
 public:
  Forecaster(const Scope& scope, index_t hidden, index_t horizon)
      : rnn_(scope / "rnn", 2, hidden), head_(scope / "head", hidden, horizon) {}

  Tensor operator()(const Array& inputs) const { return head_(rnn_(Tensor(inputs)).state.h.back()); }

 private:
  GRU rnn_;
  Linear head_;
};

struct Errors {
  double absolute = 0, squared = 0;  ///< mean over all values told: |error|, error^2, in the units of the series
};

/// Errors of the model, or without one of the seasonal-naive forecast, which tells no change.
Errors errors_of(const SeriesData& data, const std::vector<index_t>& windows, const Forecaster* model) {
  Errors out;
  double count = 0;
  for (std::size_t first = 0; first < windows.size(); first += 100) {
    const std::size_t last = std::min(windows.size(), first + 100);
    const SeriesBatch batch = series_batch(data, {windows.begin() + static_cast<std::ptrdiff_t>(first),
                                                  windows.begin() + static_cast<std::ptrdiff_t>(last)});
    const Array told = model == nullptr ? Array(batch.changes.shape(), 0) : (*model)(batch.inputs).value();
    for (std::size_t i = 0; i < told.size(); ++i, ++count) {
      const double error = static_cast<double>(told.data()[i] - batch.changes.data()[i]) * data.change_stddev();
      out.absolute += std::abs(error);
      out.squared += error * error;
    }
  }
  return {out.absolute / count, out.squared / count};
}

/// One line of the plot, from values side by side.
std::string polyline(const std::vector<double>& values, double low, double high, const std::string& color) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << "<polyline fill=\"none\" stroke=\"" << color << "\" points=\"";
  for (std::size_t i = 0; i < values.size(); ++i)
    out << 60 + 900.0 * static_cast<double>(i) / static_cast<double>(values.size()) << ','
        << 320 - 280 * (values[i] - low) / (high - low) << ' ';
  out << "\"/>\n";
  return out.str();
}

/// A picture of the forecasts of some windows, one after the other, as SVG.
std::string plot(const SeriesData& data, const std::vector<index_t>& windows, const Forecaster& model) {
  const Array changes = model(series_batch(data, windows).inputs).value();
  std::vector<double> truth, told, naive;
  for (const index_t window : windows)
    for (index_t t = 0; t < data.options().horizon; ++t) {
      truth.push_back(data.truth(window, t));
      naive.push_back(data.seasonal_naive(window, t));
      told.push_back(naive.back() + static_cast<double>(changes.data()[told.size()]) * data.change_stddev());
    }
  double low = truth.front(), high = low;
  for (const auto* values : {&truth, &told, &naive})
    for (double value : *values) low = std::min(low, value), high = std::max(high, value);
  if (high - low < 1e-9) high = low + 1;
  std::ostringstream out;
  out << std::setprecision(3) << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1000 370\" font-size=\"14\" "
      << "font-family=\"sans-serif\" stroke-width=\"1.5\">\n<rect width=\"1000\" height=\"370\" fill=\"white\"/>\n"
      << "<text x=\"8\" y=\"45\">" << high << "</text>\n<text x=\"8\" y=\"325\">" << low << "</text>\n"
      << polyline(naive, low, high, "#bbbbbb") << polyline(truth, low, high, "black")
      << polyline(told, low, high, "#d62728")
      << "<text x=\"60\" y=\"355\">truth black, forecast red, seasonal-naive forecast grey; " << windows.size()
      << " forecasts of " << data.options().horizon << " values each</text>\n</svg>\n";
  return out.str();
}

void print_result(const SeriesData& data, const Errors& told, const Errors& naive) {
  std::cout << std::fixed << std::setprecision(4) << "mean absolute error on "
            << data.windows(SeriesData::Part::test).size() << " held-out windows: " << told.absolute
            << " (seasonal naive: " << naive.absolute << "), root of the mean square " << std::sqrt(told.squared)
            << " (seasonal naive: " << std::sqrt(naive.squared) << ")" << std::endl;
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
  const Forecaster model(store.root(), hidden, horizon);
  AdamW opt(decay_groups(store, 0.01));
  RunLog log(args, store, {.interval = log_interval});
  Checkpoints checkpoints(args, store, opt, log, {.interval = save_interval});

  for (index_t step = checkpoints.resume(); step < args.steps(); ++step) {
    std::optional<double> validation;
    if (step % val_interval == 0 || step + 1 == args.steps()) {
      validation =
          errors_of(data, data.windows(SeriesData::Part::validation, 7), &model).absolute / data.change_stddev();
      checkpoints.validated(step, *validation);
    }
    const SeriesBatch batch = series_batch(data, data.train_windows(step, batch_size));
    Tape tape;
    const Tensor loss = l1_loss(model(batch.inputs), Tensor(batch.changes));
    tape.backward(loss);
    const double norm = clip_grad_norm(store, 1);
    const double rate = cosine(step, {.warmup = 50, .total = args.steps(), .peak = lr});
    if (log.accepts(step, loss.item(), norm)) opt.step(rate);
    log.step(step,
             {.loss = loss.item(),
              .validation_loss = validation,
              .lr = rate,
              .grad_norm = norm,
              .tokens = batch_size * context},
             opt);
    store.zero_grad();
    checkpoints.step(step);
  }
  log.finish();

  const std::vector<index_t> test = data.windows(SeriesData::Part::test);
  std::vector<index_t> shown = data.windows(SeriesData::Part::test, horizon);
  shown.resize(std::min<std::size_t>(shown.size(), 7));
  write_file(log.directory() + "/forecast.svg", plot(data, shown, model));
  std::cout << "forecast against truth is drawn in " << log.directory() << "/forecast.svg\n";
  print_result(data, errors_of(data, test, &model), errors_of(data, test, nullptr));
}

int main(int argc, char** argv) { return run_program(train, argc, argv); }
