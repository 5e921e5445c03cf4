#include "families/image_config.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace rightsize::model {
namespace {

// One side, or a list of height and width, which must be equal.
int read_side(const Config& config, const char* name, int fallback, std::int64_t max) {
  const JsonMember* member = config.json().find(name);
  if (!member || member->value.type != JsonType::kArray) return config.count(name, fallback, 1, max);
  std::vector<std::int64_t> sides = config.json().get_ints(name, 1, max).value_or(std::vector<std::int64_t>{fallback});
  if (sides.empty() || sides.front() != sides.back()) {
    config.json().fail_at(name, fmt::format("'{}' must be square: one number, or the same number twice", name));
    return fallback;
  }
  return static_cast<int>(sides.front());
}

}  // namespace

void read_latent_size(const Config& config, ModelShape& shape, int fallback, int pixels) {
  shape.image_size = config.count("sample_size", fallback, 1, kLargestImage);
  if (!config.resolution()) return;
  const ImageSize& asked = *config.resolution();
  if (asked.width % pixels != 0 || asked.height % pixels != 0) {
    config.json().fail_at(
        "sample_size", fmt::format("a resolution of {}x{} is not a multiple of the {} pixels of a latent", asked.width,
                                   asked.height, pixels));
  }
  shape.image_size = static_cast<int>(asked.width / pixels);
  shape.image_height = static_cast<int>(asked.height / pixels);
}

void read_patches(const Config& config, ModelShape& shape, int patch) {
  shape.image_size = read_side(config, "image_size", 224, kLargestImage);
  shape.patch_size = read_side(config, "patch_size", patch, 1'024);
  shape.channels = config.count("num_channels", 3, 1, kWidest);
  if (config.resolution() &&
      (config.resolution()->width != shape.image_size || config.resolution()->height != shape.image_size)) {
    config.json().fail_at("image_size",
                          fmt::format("this model has positions for images of {0}x{0} only", shape.image_size));
  }
  if (shape.patch_size > shape.image_size)
    config.json().fail_at("patch_size", fmt::format("'patch_size' ({}) must not exceed 'image_size' ({})",
                                                    shape.patch_size, shape.image_size));
}

Size image_grid(const ModelShape& shape, int scale) {
  const std::int64_t side = (shape.image_size + scale - 1) / std::max(1, scale);
  return kSamples.times(side * side);
}

WeightRef declare_patches(Inventory& inventory, const ModelShape& shape, std::int64_t width) {
  inventory.grid(shape.patch_size);
  const WeightRef ref = inventory.conv("embeddings.patch_embeddings.projection", width, shape.channels,
                                       shape.patch_size, {.stride = shape.patch_size, .bias = true});
  inventory.grid(0);
  return ref;
}

Value images_of(Tracer& f, const ModelShape& shape) {
  f.input(kSamples, Width::kLong);
  Value images =
      f.input(kSamples.times(std::int64_t{shape.channels} * shape.image_size * shape.image_size), Width::kSingle);
  return f.cast(images, Width::kStored);
}

WeightRef declare_image_classifier(const Config& config, Inventory& inventory, ModelShape& shape, std::int64_t width) {
  inventory.grid(0);
  if (config.head(Head::kImageClassification) == Head::kBase) return {};
  shape.labels = config.labels();
  return inventory.linear("classifier", WeightRole::kHead, shape.labels, width, true);
}

Value image_class_loss(Tracer& f, const ModelShape& shape, Value given, WeightRef classifier, WeightRef norm) {
  f.head();
  Value x = f.average_pool(std::move(given), kSamples.times(shape.hidden));
  if (norm) x = f.norm(NormKind::kLayer, norm, std::move(x), kSamples);
  x = f.linear(classifier, std::move(x), false);
  return f.class_loss(f.cast(std::move(x), Width::kSingle), kSamples);
}

}  // namespace rightsize::model
