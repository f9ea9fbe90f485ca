#include "engine/lab/lesson_answers.h"

#include <fstream>
#include <sstream>

#include "base/json_fields.h"
#include "base/json_reader.h"
#include "engine/base/error.h"
#include "engine/io/named_file.h"
#include "engine/runs/run_store.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uintmax_t max_file_bytes = 4 << 20;
constexpr char damaged_field[] = "a field is missing or of another type";

/// The key distinguishes a word from a number.
template <typename Variant>
Json make_json(const Variant& value) {
    if (const auto* word = std::get_if<std::string>(&value)) return {{"word", *word}};
    if (const auto* number = std::get_if<double>(&value)) return {{"number", json_number(*number)}};
    Json values = Json::array();
    for (const double x : std::get<std::vector<double>>(value)) values.push_back(json_number(x));
    return {{"curve", std::move(values)}};
}
template <typename Variant>
Variant value_of(const nlohmann::json& json) {
    if (json.contains("word")) return json.at("word").get<std::string>();
    if (json.contains("number")) return number_of(json.at("number"));
    std::vector<double> values;
    for (const auto& each : json.at("curve")) values.push_back(number_of(each));
    return values;
}

void list_answers(const FieldWriter& f, const LessonProgress& progress) {
    Json& predictions = f.object["predictions"] = Json::object();
    for (const auto& [id, answer] : progress.predictions) predictions[id] = make_json(answer);
    Json& measured = f.object["measured"] = Json::object();
    for (const auto& [id, value] : progress.measured)
        measured[id] = value ? make_json(*value) : Json();
}
void list_answers(const FieldReader& f, LessonProgress& progress) {
    // Named: a loop over items() of a temporary would outlive it.
    const auto predictions = f.object.value("predictions", nlohmann::json::object());
    const auto measured = f.object.value("measured", nlohmann::json::object());
    for (const auto& [id, each] : predictions.items())
        progress.predictions[id] = value_of<LessonAnswer>(each);
    for (const auto& [id, each] : measured.items())
        progress.measured[id] =
            each.is_null() ? std::nullopt : std::optional(value_of<LessonValue>(each));
}

}  // namespace

void list_fields(const auto& f, Is<LessonProgress> auto& progress) {
    f.may_lack("steps_read", progress.steps_read, "steps", progress.steps,
               "finished", progress.finished, "seed", progress.seed, "when", progress.when);
    list_answers(f, progress);
}

fs::path default_answers_file() { return RunStore::default_root().parent_path() / "lab.json"; }

std::string to_json(const LearnerAnswers& answers) {
    return dumped(Json{{"halftone", "lab answers"},
                       {"learner", answers.learner},
                       {"lessons", answers.lessons}},
                  1) +
           "\n";
}

LearnerAnswers parse_answers(std::string_view json) {
    try {
        JsonFault fault;
        const nlohmann::json read = read_json(json, {.bytes = max_file_bytes, .depth = 8}, &fault);
        if (read.is_discarded())
            throw Error(ErrorCode::data, msg("This is not an answers file: {}.", fault.str()));
        if (read.value("halftone", "") != "lab answers")
            throw Error(ErrorCode::data, msg("This is not an answers file."));
        LearnerAnswers out;
        out.learner = read.value("learner", "");
        read.at("lessons").get_to(out.lessons);
        return out;
    } catch (const nlohmann::json::exception&) {
        throw Error(ErrorCode::data, msg("This is not an answers file: {}.", damaged_field));
    }
}

LearnerAnswers read_answers(const fs::path& file) {
    std::error_code error;
    if (!fs::exists(file, error)) return {};
    if (fs::file_size(file, error) > max_file_bytes || error)
        throw Error(ErrorCode::data, msg("{} is too large for an answers file.", file.string()));
    std::ifstream in(file, std::ios::binary);
    std::ostringstream text;
    text << in.rdbuf();
    return parse_answers(text.str());
}

void write_answers(const fs::path& file, const LearnerAnswers& answers) {
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    write_named_file(file, to_json(answers));
}

}  // namespace engine
