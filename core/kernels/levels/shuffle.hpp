// Rearranging the elements of registers. Included only by *_level.cpp, inside the unnamed namespace of a level.

/// Element e is element from[e] of a and b side by side. In an unrolled loop the places are constants: one instruction.
template <class Vector, class Places>
inline Vector shuffled(Vector a, Vector b, Places from) {
#ifdef __clang__  // it has no shuffle by a vector of places
  constexpr int width = sizeof(Vector) / sizeof(a[0]);
  Vector out;
  for (int e = 0; e < width; ++e) out[e] = from[e] < width ? a[from[e]] : b[from[e] - width];
  return out;
#else
  return __builtin_shuffle(a, b, from);
#endif
}
