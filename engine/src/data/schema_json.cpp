#include "data/schema_json.h"

#include <stdexcept>

#include "base/json_fields.h"

namespace engine {
namespace {

using Sizes = std::vector<std::int64_t>;

constexpr std::int64_t max_sample_size = std::int64_t{1} << 31;

void list_shape(const FieldWriter& f, const Shape& shape) {
    f("shape", Sizes(shape.begin(), shape.end()));
}
void list_shape(const FieldReader& f, Shape& shape) {
    Sizes sizes;
    f("shape", sizes);
    if (sizes.size() > Dims::max_rank) throw std::invalid_argument("shape");
    std::int64_t numel = 1;
    for (const std::int64_t size : sizes) {
        if (size < 0 || size > max_sample_size) throw std::invalid_argument("shape");
        numel *= std::max<std::int64_t>(size, 1);
        if (numel > max_sample_size) throw std::invalid_argument("shape");
    }
    shape = Shape(sizes);
}

void list_field(const auto& f, auto& field) {
    f("name", field.name, "kind", field.kind, "dtype", field.dtype);
    list_shape(f, field.shape);
    f("cardinality", field.cardinality);
    f.unless("mask_token", field.mask_token, std::int64_t{-1});
    f.unless("ragged", field.ragged, Ragged::no);
    f.unless("windowed", field.windowed, false);
    f.unless("by_batch", field.by_batch, false);
    f.unless("own_changes", field.own_changes, false);
    f.unless("mean", field.normalization.mean, std::vector<float>());
    f.unless("deviation", field.normalization.deviation, std::vector<float>());
    f.unless("names", field.names, std::vector<std::string>());
}

}  // namespace

void to_json(ordered_json& out, const FieldSpec& field) { list_field(FieldWriter{out}, field); }

void from_json(const json& in, FieldSpec& field) {
    list_field(FieldReader{in}, field);
    if (field.dtype != DType::f32 && field.dtype != DType::i64 && field.dtype != DType::boolean)
        throw std::invalid_argument("dtype");
    if (field.mask_token < -1 || (field.mask_token >= 0 && field.mask_token >= field.cardinality))
        throw std::invalid_argument("mask_token");
    const std::size_t channels = field.normalization.mean.size();
    if (channels != field.normalization.deviation.size() || field.cardinality < 0)
        throw std::invalid_argument("normalization");
    const auto per = field.kind == FieldKind::image && field.shape.rank() == 3
                         ? field.shape[0]
                         : field.shape.numel();
    if (channels != 0 && static_cast<std::int64_t>(channels) != per)
        throw std::invalid_argument("normalization");
}

}  // namespace engine
