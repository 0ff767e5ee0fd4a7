// Loops whose choices are made outside: to write or to add, to step or not. Included only by the .cpp files here,
// inside the unnamed namespace of an instruction set.

/// y[i] = value(i), or y[i] += value(i).
template <class Value>
void store_each(Output y, index_t n, Value value) {
  real* to = y.data;
  if (y.add) {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) to[i] += value(i);
  } else {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) to[i] = value(i);
  }
}

/// y[i] = element(i, a[i * step_a], b[i * step_b]) with steps 0 or 1, a loop for each combination.
template <class T, class Element>
void map_pairs(const real* a, index_t step_a, const real* b, index_t step_b, T* y, index_t n, Element element) {
  if (n == 0) return;
  const real first_a = *a, first_b = *b;
  if (step_a && step_b) {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) y[i] = element(i, a[i], b[i]);
  } else if (step_a) {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) y[i] = element(i, a[i], first_b);
  } else if (step_b) {
#pragma GCC ivdep
    for (index_t i = 0; i < n; ++i) y[i] = element(i, first_a, b[i]);
  } else {
    for (index_t i = 0; i < n; ++i) y[i] = element(i, first_a, first_b);
  }
}
