// What families of image models share: reading the image's side, its input, the classifier behind the last layer.
#pragma once

#include "families/config.h"
#include "model/inventory.h"
#include "model/model_shape.h"
#include "model/tracer.h"

namespace rightsize::model {

// image_size, patch_size (its default is `patch`) and num_channels.
void read_patches(const Config& config, ModelShape& shape, int patch);

// The side of the latents a model that makes images works on: the resolution asked for at `pixels` a latent element, or
// sample_size. The resolution must be a multiple of 8 latents' pixels.
void read_latent_size(const Config& config, ModelShape& shape, int fallback, int pixels);
inline int latent_height(const ModelShape& shape) {
  return shape.image_height > 0 ? shape.image_height : shape.image_size;
}

// The convolution that cuts an image into patches of `width` channels.
WeightRef declare_patches(Inventory& inventory, const ModelShape& shape, std::int64_t width);

// Labels and pixels of an iteration; the pixels, as the first layer reads them.
Value images_of(Tracer& f, const ModelShape& shape);

// The head the class name asks for; none for a base model.
WeightRef declare_image_classifier(const Config& config, Inventory& inventory, ModelShape& shape, std::int64_t width);

}  // namespace rightsize::model
