// Baselines for image classifiers: both need no training.
#pragma once

#include <xtape/data/images.hpp>

#include <functional>

namespace xtape::inline XTAPE_DTYPE {

/// Maps images [B, P] to their labels, B of them. P is height * width, pixels are 0..1.
using ImageClassifier = std::function<std::vector<index_t>(const Array& images)>;

/// Gives each image the class whose mean training image is nearest to it (Euclidean distance). A class without training
/// images has a black mean image.
ImageClassifier nearest_class_mean(const ImageSet& train);

/// Gives each image the label of the training image nearest to it (Euclidean distance), the first of equally near ones.
ImageClassifier nearest_neighbor(const ImageSet& train);

/// The share of the images, 0..1, that `classify` gives the right label; it gets at most 100 images at a time. Throws
/// ValueError for an empty set, or if the number of labels is not the number of images.
double accuracy(const ImageSet& set, const ImageClassifier& classify);

}  // namespace xtape::inline XTAPE_DTYPE
