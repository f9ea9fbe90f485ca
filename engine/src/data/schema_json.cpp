#include "data/schema_json.h"

#include <stdexcept>

namespace engine {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr FieldKind kinds[] = {FieldKind::image,   FieldKind::features, FieldKind::tokens,
                               FieldKind::indices, FieldKind::label,    FieldKind::value,
                               FieldKind::mask,    FieldKind::offsets,  FieldKind::other};
constexpr DType dtypes[] = {DType::f32, DType::i64, DType::boolean};
constexpr Ragged raggeds[] = {Ragged::no, Ragged::masked, Ragged::packed};
constexpr const char* ragged_names[] = {"no", "masked", "packed"};
constexpr std::int64_t max_sample_size = std::int64_t{1} << 31;

template <typename T, std::size_t n>
T named(const json& word, const T (&all)[n]) {
    for (const T& each : all) {
        if (word == name(each)) return each;
    }
    throw std::invalid_argument("unknown name");
}

Shape shape_of(const json& object) {
    const auto sizes = object.at("shape").get<std::vector<std::int64_t>>();
    if (sizes.size() > Dims::max_rank) throw std::invalid_argument("shape");
    std::int64_t numel = 1;
    for (const std::int64_t size : sizes) {
        if (size < 0 || size > max_sample_size) throw std::invalid_argument("shape");
        numel *= std::max<std::int64_t>(size, 1);
        if (numel > max_sample_size) throw std::invalid_argument("shape");
    }
    return Shape(sizes);
}

}  // namespace

FieldSpec parse_field_spec(const json& object) {
    FieldSpec field;
    field.name = object.at("name").get<std::string>();
    field.kind = named(object.at("kind"), kinds);
    field.dtype = named(object.at("dtype"), dtypes);
    field.shape = shape_of(object);
    field.cardinality = object.at("cardinality").get<std::int64_t>();
    const std::string ragged = object.value("ragged", std::string("no"));
    for (const Ragged each : raggeds) {
        if (ragged == ragged_names[static_cast<int>(each)]) field.ragged = each;
    }
    field.windowed = object.value("windowed", false);
    field.normalization.mean = object.value("mean", std::vector<float>());
    field.normalization.deviation = object.value("deviation", std::vector<float>());
    field.names = object.value("names", std::vector<std::string>());
    const std::size_t channels = field.normalization.mean.size();
    if (channels != field.normalization.deviation.size() || field.cardinality < 0)
        throw std::invalid_argument("normalization");
    const auto per = field.kind == FieldKind::image && field.shape.rank() == 3
                         ? field.shape[0]
                         : field.shape.numel();
    if (channels != 0 && static_cast<std::int64_t>(channels) != per)
        throw std::invalid_argument("normalization");
    return field;
}

ordered_json to_json(const FieldSpec& field) {
    ordered_json object = {
        {"name", field.name},
        {"kind", name(field.kind)},
        {"dtype", name(field.dtype)},
        {"shape", std::vector<std::int64_t>(field.shape.begin(), field.shape.end())},
        {"cardinality", field.cardinality}};
    if (field.ragged != Ragged::no) object["ragged"] = ragged_names[static_cast<int>(field.ragged)];
    if (field.windowed) object["windowed"] = true;
    if (!field.normalization.empty()) {
        object["mean"] = field.normalization.mean;
        object["deviation"] = field.normalization.deviation;
    }
    if (!field.names.empty()) object["names"] = field.names;
    return object;
}

}  // namespace engine
