// A program for args_test.cpp: prints its options, or fails as it is told to.
#include <xtape/core/threads.hpp>
#include <xtape/train/args.hpp>
#include <xtape/train/program.hpp>

#include <iostream>
#include <limits>
#include <new>

using namespace xtape;

void print(int argc, char** argv) {
  Args args("args_program", "Prints its options.", {.steps = 100, .quick_steps = 3});
  args.group("Model");
  const auto width = args.integer("width", 128, {1, 4096}, "width of the model");
  const auto cell = args.choice("cell", {"rnn", "gru", "lstm"}, "lstm", "recurrent cell");
  args.group("Optimization");
  const auto lr = args.number("lr", 1e-3, {0, 1}, "peak learning rate");
  const auto decay = args.number("weight-decay", 0, {0, std::numeric_limits<double>::infinity()}, "weight decay");
  const auto file = args.text("text", "kjv.txt", "text to read");
  const auto tied = args.flag("tied", "use the embedding as output layer");
  const auto fail = args.choice("fail", {"no", "value", "file", "tape", "standard", "memory", "unknown"}, "no",
                                "the exception to end with");
  args.parse(argc, argv);
  std::cout << width << ' ' << *cell << ' ' << lr << ' ' << decay << ' ' << *file << ' ' << tied << " | "
            << args.steps() << ' ' << args.seed() << ' ' << threads() << ' ' << args.quick() << " '" << args.out()
            << "'\n";
  if (*fail == "value") throw ValueError("op", "bad value");
  if (*fail == "file") throw FileError("op", "bad\nfile");
  if (*fail == "tape") throw TapeError("op", "bad tape");
  if (*fail == "standard") throw std::runtime_error("something else");
  if (*fail == "memory") throw std::bad_alloc();
  if (*fail == "unknown") throw 1;
}

int main(int argc, char** argv) { return run_program(print, argc, argv); }
