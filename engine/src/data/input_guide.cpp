#include "data/input_guide.h"

#include "base/json_fields.h"
#include "base/json_reader.h"
#include "base/platform/regular_file.h"
#include "data/schema_json.h"
#include "engine/base/error.h"
#include "io/file/atomic_file.h"
#include "io/file/sha256.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

constexpr char guide_file[] = "inputs.json";
constexpr int max_side = 1 << 14;
constexpr std::uint64_t max_offset = std::uint64_t{1} << 31;

/// The run's tokenizer, which must be the file that it read.
std::string read_kept_tokenizer(const fs::path& run_folder, const std::string& sha256) {
    const fs::path file = kept_tokenizer(run_folder);
    auto text = read_regular_file(file, std::size_t{256} << 20);
    if (!text || sha256_of(std::as_bytes(std::span(*text))) != sha256)
        throw Error(ErrorCode::data,
                    msg("{}: not the tokenizer that the run was trained with", file.string()),
                    msg("Put the run's own file back."));
    return *std::move(text);
}

/// A negative number would be a huge one, and a sum with it wrap around.
void check_offset(const json& column, const char* field) {
    const auto offset = column.find(field);
    if (offset == column.end()) return;
    if (!offset->is_number_unsigned() || offset->get<std::uint64_t>() > max_offset)
        throw std::invalid_argument("offset");
}

/// One key for a category and for a number.
void list_usual(const FieldWriter& f, const GuideColumn& column) {
    f.unless("usual", column.usual_category, "");
    f.unless("usual", column.usual_number, std::nullopt);
}
void list_usual(const FieldReader& f, GuideColumn& column) {
    const auto usual = f.object.find("usual");
    if (usual == f.object.end()) return;
    if (usual->is_string()) usual->get_to(column.usual_category);
    if (usual->is_number()) column.usual_number = usual->get<double>();
}

}  // namespace

void list_fields(const auto& f, Is<GuideColumn> auto& column) {
    f("name", column.name, "offset", column.offset);
    f.unless("categories", column.categories, std::vector<std::string>());
    f.unless("id", column.id, GuideColumn::Id::none);
    f.unless("counted", column.counted, false);
    f.unless("place", column.place, std::nullopt);
    f.unless("unit", column.form.unit, "");
    f.unless("commas", column.form.commas, false);
    f.unless("missing", column.form.other_missing, std::vector<std::string>());
    list_usual(f, column);
}

namespace {

InputGuide parse_guide(const json& object) {
    InputGuide guide;
    object.at("fields").get_to(guide.schema.fields);
    for (const json& column : object.value("columns", json::array())) {
        for (const char* field : {"offset", "place"}) check_offset(column, field);
        GuideColumn& read = guide.columns.emplace_back(column.get<GuideColumn>());
        read.form.categorical = !read.categories.empty();
    }
    guide.table_columns = object.value("table_columns", std::size_t{0});
    guide.target_place = object.value("target_place", std::size_t{0});
    guide.header = object.value("header", true);
    guide.vocabulary = object.value("vocabulary", std::vector<std::string>());
    guide.words = object.value("words", false);
    guide.framed_lines = object.value("framed_lines", false);
    guide.short_side = object.value("short_side", 0);
    guide.long_side = object.value("long_side", 0);
    for (const int side : {guide.short_side, guide.long_side})
        if (side < 0 || side > max_side) throw std::invalid_argument("short_side or long_side");
    if (object.value("drops_alpha", false)) guide.alpha = Alpha::dropped;
    return guide;
}

}  // namespace

void write_input_guide(const std::filesystem::path& run_folder, const InputGuide& guide) {
    ordered_json object = {{"fields", guide.schema.fields}};
    if (!guide.columns.empty()) object["columns"] = guide.columns;
    if (guide.table_columns > 0) {
        object["table_columns"] = guide.table_columns;
        object["target_place"] = guide.target_place;
        object["header"] = guide.header;
    }
    if (!guide.vocabulary.empty()) {
        object["vocabulary"] = guide.vocabulary;
        object["words"] = guide.words;
    }
    if (!guide.tokenizer.empty()) {
        write_file(kept_tokenizer(run_folder), guide.tokenizer);
        object["tokenizer_sha256"] = sha256_of(std::as_bytes(std::span(guide.tokenizer)));
        object["framed_lines"] = guide.framed_lines;
    }
    if (guide.short_side > 0) object["short_side"] = guide.short_side;
    if (guide.long_side > 0) object["long_side"] = guide.long_side;
    if (guide.alpha == Alpha::dropped) object["drops_alpha"] = true;
    write_file(run_folder / guide_file, dumped(object, 1) + "\n");
}

fs::path kept_tokenizer(const fs::path& run_folder) { return run_folder / "tokenizer.json"; }

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
        const json object = read_json_file(file, {.bytes = std::size_t{256} << 20});
        InputGuide guide = parse_guide(object);
        if (const auto sha256 = object.find("tokenizer_sha256"); sha256 != object.end())
            guide.tokenizer = read_kept_tokenizer(run_folder, sha256->get<std::string>());
        return guide;
    } catch (const json::exception&) {
    } catch (const std::invalid_argument&) {
    }
    throw Error(ErrorCode::data, msg("{}: damaged", file.string()));
}

}  // namespace engine
