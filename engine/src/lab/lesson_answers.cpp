#include "engine/lab/lesson_answers.h"

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/json_reader.h"
#include "engine/base/error.h"
#include "engine/io/named_file.h"
#include "engine/runs/run_store.h"
#include "engine/base/json.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uintmax_t max_file_bytes = 4 << 20;
constexpr char damaged_field[] = "a field is missing or of another type";

double parse_number(const nlohmann::json& json) {
    if (json.is_number()) return json.get<double>();
    const auto text = json.get<std::string>();
    if (text == "inf") return std::numeric_limits<double>::infinity();
    if (text == "-inf") return -std::numeric_limits<double>::infinity();
    return std::numeric_limits<double>::quiet_NaN();
}

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
    if (json.contains("number")) return parse_number(json.at("number"));
    std::vector<double> values;
    for (const auto& each : json.at("curve")) values.push_back(parse_number(each));
    return values;
}

Json make_json(const LessonProgress& progress) {
    Json predictions = Json::object(), measured = Json::object();
    for (const auto& [id, answer] : progress.predictions) predictions[id] = make_json(answer);
    for (const auto& [id, value] : progress.measured)
        measured[id] = value ? make_json(*value) : Json();
    return {{"steps_read", progress.steps_read},
            {"steps", progress.steps},
            {"finished", progress.finished},
            {"seed", progress.seed},
            {"when", progress.when},
            {"predictions", predictions},
            {"measured", measured}};
}

LessonProgress parse_progress(const nlohmann::json& json) {
    LessonProgress out;
    out.steps_read = json.value("steps_read", 0);
    out.steps = json.value("steps", 0);
    out.finished = json.value("finished", false);
    out.seed = json.value("seed", std::int64_t{1});
    out.when = json.value("when", "");
    // Named: a loop over items() of a temporary would outlive it.
    const auto predictions = json.value("predictions", nlohmann::json::object());
    const auto measured = json.value("measured", nlohmann::json::object());
    for (const auto& [id, each] : predictions.items())
        out.predictions[id] = value_of<LessonAnswer>(each);
    for (const auto& [id, each] : measured.items())
        out.measured[id] =
            each.is_null() ? std::nullopt : std::optional(value_of<LessonValue>(each));
    return out;
}

}  // namespace

fs::path default_answers_file() { return RunStore::default_root().parent_path() / "lab.json"; }

std::string to_json(const LearnerAnswers& answers) {
    Json lessons = Json::object();
    for (const auto& [name, progress] : answers.lessons) lessons[name] = make_json(progress);
    const Json out = {
        {"halftone", "lab answers"}, {"learner", answers.learner}, {"lessons", lessons}};
    return out.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
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
        for (const auto& [name, each] : read.at("lessons").items())
            out.lessons[name] = parse_progress(each);
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
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    return parse_answers(text);
}

void write_answers(const fs::path& file, const LearnerAnswers& answers) {
    std::error_code error;
    fs::create_directories(file.parent_path(), error);
    write_named_file(file, to_json(answers));
}

}  // namespace engine
