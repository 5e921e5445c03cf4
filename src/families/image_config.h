// Shared by the families of image models: the image's side, its input, and the classifier after the last layer.
#pragma once

#include "families/config.h"
#include "model/inventory.h"
#include "model/model_shape.h"
#include "model/tracer.h"

namespace rightsize::model {

// image_size, patch_size (its default is `patch`) and num_channels.
void read_patches(const Config& config, ModelShape& shape, int patch);

// The side of the latents that an image generator works on: the requested resolution at `pixels` per latent element, or
// sample_size. The resolution must be a multiple of `pixels`.
void read_latent_size(const Config& config, ModelShape& shape, int fallback, int pixels);
inline int latent_height(const ModelShape& shape) {
  return shape.image_height > 0 ? shape.image_height : shape.image_size;
}

// The positions of a square grid that is `scale` times coarser than the image.
Size image_grid(const ModelShape& shape, int scale);

// The convolution that cuts an image into patches of `width` channels.
WeightRef declare_patches(Inventory& inventory, const ModelShape& shape, std::int64_t width);

// Adds labels and pixels to the inputs of an iteration and returns the pixels as the first layer reads them.
Value images_of(Tracer& f, const ModelShape& shape);

// The head according to the class name; a base model has none.
WeightRef declare_image_classifier(const Config& config, Inventory& inventory, ModelShape& shape, std::int64_t width);
// Pools shape.hidden channels, norms them if the model does, and classifies.
Value image_class_loss(Tracer& f, const ModelShape& shape, Value x, WeightRef classifier, WeightRef norm = {});

}  // namespace rightsize::model
