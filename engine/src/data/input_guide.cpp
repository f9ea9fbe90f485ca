#include "data/input_guide.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "file/atomic_file.h"

namespace engine {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr char guide_file[] = "inputs.json";
constexpr FieldKind kinds[] = {FieldKind::image,   FieldKind::features, FieldKind::tokens,
                               FieldKind::indices, FieldKind::label,    FieldKind::value,
                               FieldKind::mask,    FieldKind::offsets,  FieldKind::other};
constexpr DType dtypes[] = {DType::f32, DType::i64, DType::boolean};
constexpr Ragged raggeds[] = {Ragged::no, Ragged::masked, Ragged::packed};
constexpr const char* ragged_names[] = {"no", "masked", "packed"};
constexpr int largest_side = 1 << 14;
constexpr GuideColumn::Id ids[] = {GuideColumn::Id::none, GuideColumn::Id::decimal,
                                   GuideColumn::Id::criteo};
constexpr const char* id_names[] = {"no", "decimal", "criteo"};
constexpr std::int64_t largest_sample = std::int64_t{1} << 31;

ordered_json to_object(const FieldSpec& field) {
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
        if (size < 0 || size > largest_sample) throw std::invalid_argument("shape");
        numel *= std::max<std::int64_t>(size, 1);
        if (numel > largest_sample) throw std::invalid_argument("shape");
    }
    return Shape(sizes);
}

FieldSpec field_of(const json& object) {
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

GuideColumn::Id id_of(const std::string& name) {
    for (const GuideColumn::Id each : ids) {
        if (name == id_names[static_cast<int>(each)]) return each;
    }
    throw std::invalid_argument("unknown name");
}

InputGuide guide_of(const json& object) {
    InputGuide guide;
    for (const json& field : object.at("fields")) guide.schema.fields.push_back(field_of(field));
    for (const json& column : object.value("columns", json::array())) {
        guide.columns.push_back({column.at("name").get<std::string>(),
                                 column.value("categories", std::vector<std::string>()),
                                 column.at("offset").get<std::size_t>(),
                                 id_of(column.value("id", std::string(id_names[0]))),
                                 column.value("counted", false)});
    }
    guide.vocabulary = object.value("vocabulary", std::vector<std::string>());
    guide.words = object.value("words", false);
    guide.short_side = object.value("short_side", 0);
    if (guide.short_side < 0 || guide.short_side > largest_side)
        throw std::invalid_argument("short_side");
    if (object.value("drops_alpha", false)) guide.alpha = Alpha::dropped;
    return guide;
}

}  // namespace

void write_input_guide(const std::filesystem::path& run_folder, const InputGuide& guide) {
    ordered_json object = {{"fields", ordered_json::array()}};
    for (const FieldSpec& field : guide.schema.fields) object["fields"].push_back(to_object(field));
    for (const GuideColumn& column : guide.columns) {
        ordered_json each = {{"name", column.name}, {"offset", column.offset}};
        if (!column.categories.empty()) each["categories"] = column.categories;
        if (column.id != GuideColumn::Id::none) each["id"] = id_names[static_cast<int>(column.id)];
        if (column.counted) each["counted"] = true;
        object["columns"].push_back(std::move(each));
    }
    if (!guide.vocabulary.empty()) {
        object["vocabulary"] = guide.vocabulary;
        object["words"] = guide.words;
    }
    if (guide.short_side > 0) object["short_side"] = guide.short_side;
    if (guide.alpha == Alpha::dropped) object["drops_alpha"] = true;
    write_file(run_folder / guide_file,
               object.dump(1, ' ', false, json::error_handler_t::replace) + "\n");
}

InputGuide read_input_guide(const std::filesystem::path& run_folder) {
    const auto file = run_folder / guide_file;
    std::ifstream stream(file, std::ios::binary);
    if (!stream) {
        throw Error(ErrorCode::data,
                    msg("{}: the run does not say what inputs its model takes", file.string()),
                    msg("Runs of earlier versions do not. Train it again."));
    }
    try {
        return guide_of(json::parse(stream));
    } catch (const json::exception&) {
    } catch (const std::invalid_argument&) {
    }
    throw Error(ErrorCode::data, msg("{}: damaged", file.string()));
}

}  // namespace engine
