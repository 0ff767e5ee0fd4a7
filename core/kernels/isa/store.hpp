// Writing or adding a result, the choice made outside the loop. Included only by the .cpp files here, inside the
// unnamed namespace of an instruction set.

/// y[i] = value(i), or y[i] += value(i) when `accumulate`.
template <class Value>
void store_each(real* y, bool accumulate, index_t n, Value value) {
  if (accumulate) {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) y[i] += value(i);
  } else {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) y[i] = value(i);
  }
}
