#include "data/input_guide.h"

#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "data/schema_json.h"
#include "engine/base/error.h"
#include "io/file/atomic_file.h"

namespace engine {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr char guide_file[] = "inputs.json";
constexpr int max_side = 1 << 14;
constexpr GuideColumn::Id ids[] = {GuideColumn::Id::none, GuideColumn::Id::decimal,
                                   GuideColumn::Id::criteo};
constexpr std::size_t max_offset = std::size_t{1} << 31;
constexpr const char* id_names[] = {"no", "decimal", "criteo"};

GuideColumn::Id parse_column_id(const std::string& name) {
    for (const GuideColumn::Id each : ids) {
        if (name == id_names[static_cast<int>(each)]) return each;
    }
    throw std::invalid_argument("unknown name");
}

/// A negative number would be a huge one, and a sum with it wrap around.
std::size_t parse_offset(const json& column, const char* field) {
    const json& offset = column.at(field);
    if (!offset.is_number_unsigned() || offset.get<std::uint64_t>() > max_offset)
        throw std::invalid_argument("offset");
    return offset.get<std::size_t>();
}

GuideColumn parse_column(const json& object) {
    GuideColumn column{object.at("name").get<std::string>(),
                       object.value("categories", std::vector<std::string>()),
                       parse_offset(object, "offset"),
                       parse_column_id(object.value("id", std::string(id_names[0]))),
                       object.value("counted", false)};
    if (object.contains("place")) column.place = parse_offset(object, "place");
    column.form.categorical = !column.categories.empty();
    column.form.unit = object.value("unit", std::string());
    column.form.commas = object.value("commas", false);
    column.form.other_missing = object.value("missing", std::vector<std::string>());
    const auto usual = object.find("usual");
    if (usual == object.end()) return column;
    if (usual->is_string()) column.usual_category = usual->get<std::string>();
    if (usual->is_number()) column.usual_number = usual->get<double>();
    return column;
}

ordered_json to_json(const GuideColumn& column) {
    ordered_json object = {{"name", column.name}, {"offset", column.offset}};
    if (!column.categories.empty()) object["categories"] = column.categories;
    if (column.id != GuideColumn::Id::none) object["id"] = id_names[static_cast<int>(column.id)];
    if (column.counted) object["counted"] = true;
    if (column.place) object["place"] = *column.place;
    if (!column.form.unit.empty()) object["unit"] = column.form.unit;
    if (column.form.commas) object["commas"] = true;
    if (!column.form.other_missing.empty()) object["missing"] = column.form.other_missing;
    if (!column.usual_category.empty()) object["usual"] = column.usual_category;
    if (column.usual_number) object["usual"] = *column.usual_number;
    return object;
}

InputGuide parse_guide(const json& object) {
    InputGuide guide;
    for (const json& field : object.at("fields"))
        guide.schema.fields.push_back(parse_field_spec(field));
    for (const json& column : object.value("columns", json::array()))
        guide.columns.push_back(parse_column(column));
    guide.table_columns = object.value("table_columns", std::size_t{0});
    guide.target_place = object.value("target_place", std::size_t{0});
    guide.header = object.value("header", true);
    guide.vocabulary = object.value("vocabulary", std::vector<std::string>());
    guide.words = object.value("words", false);
    guide.short_side = object.value("short_side", 0);
    if (guide.short_side < 0 || guide.short_side > max_side)
        throw std::invalid_argument("short_side");
    if (object.value("drops_alpha", false)) guide.alpha = Alpha::dropped;
    return guide;
}

}  // namespace

void write_input_guide(const std::filesystem::path& run_folder, const InputGuide& guide) {
    ordered_json object = {{"fields", ordered_json::array()}};
    for (const FieldSpec& field : guide.schema.fields) object["fields"].push_back(to_json(field));
    for (const GuideColumn& column : guide.columns) object["columns"].push_back(to_json(column));
    if (guide.table_columns > 0) {
        object["table_columns"] = guide.table_columns;
        object["target_place"] = guide.target_place;
        object["header"] = guide.header;
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
    std::error_code error;
    if (!std::filesystem::exists(file, error)) {
        throw Error(ErrorCode::data,
                    msg("{}: the run does not record which inputs its model takes", file.string()),
                    msg("Runs of earlier versions do not record them. Train it again."));
    }
    try {
        // The words of a text or the categories of a table may be many.
        return parse_guide(read_json_file(file, {.bytes = std::size_t{256} << 20}));
    } catch (const json::exception&) {
    } catch (const std::invalid_argument&) {
    }
    throw Error(ErrorCode::data, msg("{}: damaged", file.string()));
}

}  // namespace engine
