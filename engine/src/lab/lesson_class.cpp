#include <algorithm>
#include <map>

#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "engine/base/table.h"
#include "engine/lab/lesson_answers.h"
#include "engine/lab/lesson_results.h"
#include "record/median.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

/// "early", "1500", "curve of 20 points".
std::string text_of(const LessonAnswer& answer) {
    if (const auto* word = std::get_if<std::string>(&answer)) return *word;
    if (const auto* number = std::get_if<double>(&answer)) return to_string(LessonValue(*number));
    return "curve of " + std::to_string(std::get<std::vector<double>>(answer).size()) + " points";
}
std::string text_of(const std::optional<LessonAnswer>& answer) {
    return answer ? text_of(*answer) : "";
}
std::string text_of(const std::optional<LessonValue>& value) {
    return value ? to_string(value) : "";
}

void add_rows(const LearnerAnswers& answers, const std::string& file, ClassAnswers& out) {
    for (const auto& [lesson, progress] : answers.lessons)
        for (const auto& [id, answer] : progress.predictions) {
            const auto measured = progress.measured.find(id);
            out.rows.push_back(
                {answers.learner, file, lesson, id, answer,
                 measured == progress.measured.end() ? std::nullopt : measured->second});
        }
}

/// Summary of a class's answers to one prediction: the count of each choice, or the range of the
/// numbers.
std::string summarize_rows(const std::vector<const ClassAnswers::Row*>& rows) {
    std::map<std::string, int> words;
    std::vector<double> numbers;
    int curves = 0;
    for (const auto* row : rows) {
        if (const auto* word = std::get_if<std::string>(&*row->answer)) ++words[*word];
        if (const auto* number = std::get_if<double>(&*row->answer)) numbers.push_back(*number);
        if (std::holds_alternative<std::vector<double>>(*row->answer)) ++curves;
    }
    std::string out;
    const auto add = [&](const std::string& text) { out += (out.empty() ? "" : ", ") + text; };
    for (const auto& [word, count] : words) add(word + " " + std::to_string(count));
    if (!numbers.empty()) {
        const auto [low, high] = std::ranges::minmax(numbers);
        add(to_string(LessonValue(low)) + " to " + to_string(LessonValue(high)) + ", median " +
            to_string(LessonValue(median(numbers))));
    }
    if (curves > 0) add(std::to_string(curves) + (curves == 1 ? " curve" : " curves"));
    return out;
}

/// Most often the same on all laptops; where it is not, each value with its number.
std::string measured_text(const std::vector<const ClassAnswers::Row*>& rows) {
    std::map<std::string, int> values;
    for (const auto* row : rows)
        if (row->measured) ++values[to_string(row->measured)];
    if (values.size() == 1) return values.begin()->first;
    std::string out;
    for (const auto& [value, count] : values)
        out += (out.empty() ? "" : ", ") + value + " (" + std::to_string(count) + ")";
    return out.empty() ? "-" : out;
}

template <typename Value>
Cell make_cell(const std::optional<Value>& value) {
    const auto* number = value ? std::get_if<double>(&*value) : nullptr;
    return number != nullptr ? Cell(*number, shown_format(*number)) : Cell(text_of(value));
}

/// A learner's name as that of a file; what a path would read differently becomes a dash.
std::string answers_file_name(const std::string& learner) {
    std::string out;
    for (const char c : learner) {
        const bool kept = static_cast<unsigned char>(c) >= 0x20 && c != '/' && c != '\\' && c != 0x7f;
        out += kept ? c : '-';
    }
    if (out.starts_with('.')) out.front() = '-';
    constexpr std::size_t most = 100;
    if (out.size() > most) out.resize(most);
    return out;
}

bool is_of_another(const fs::path& file, const std::string& learner) {
    std::error_code error;
    if (!fs::exists(file, error)) return false;
    try {
        return read_answers(file).learner != learner;
    } catch (const Error&) {
        return true;  // a file that cannot be read is not overwritten
    }
}

}  // namespace

fs::path hand_in_answers(const fs::path& folder, const LearnerAnswers& answers) {
    if (answers.learner.empty())
        throw Error(ErrorCode::settings, msg("Answers are handed in under a name."),
                    msg("Type your name."));
    if (!fs::is_directory(folder))
        throw Error(ErrorCode::data, msg("{} is not a folder.", folder.string()));
    const std::string name = answers_file_name(answers.learner);
    fs::path file = folder / (name + ".json");
    for (int i = 2; is_of_another(file, answers.learner); ++i)
        file = folder / (name + "-" + std::to_string(i) + ".json");
    write_answers(file, answers);
    return file;
}

ClassAnswers collect_answers(const fs::path& folder) {
    if (!fs::is_directory(folder))
        throw Error(ErrorCode::data, msg("{} is not a folder.", folder.string()));
    std::vector<fs::path> files;
    for (const auto& each : fs::directory_iterator(folder))
        if (each.is_regular_file() && each.path().extension() == ".json")
            files.push_back(each.path());
    std::ranges::sort(files);
    ClassAnswers out;
    for (const auto& file : files) {
        const std::string name = file.filename().string();
        try {
            const LearnerAnswers answers = read_answers(file);
            ++out.learners;
            add_rows(answers, name, out);
        } catch (const Error& error) {
            out.unreadable.emplace_back(name, error.message().str());
        }
    }
    std::ranges::stable_sort(out.rows, {}, [](const auto& row) {
        return std::tie(row.lesson, row.prediction, row.learner);
    });
    return out;
}

std::vector<PredictionSummary> summarize_answers(const ClassAnswers& answers) {
    std::map<std::pair<std::string, std::string>, std::vector<const ClassAnswers::Row*>> groups;
    for (const auto& row : answers.rows) groups[{row.lesson, row.prediction}].push_back(&row);
    std::vector<PredictionSummary> out;
    for (const auto& [key, rows] : groups)
        out.push_back({key.first, key.second, static_cast<int>(rows.size()), summarize_rows(rows),
                       measured_text(rows)});
    return out;
}

std::string answers_table(const ClassAnswers& answers) {
    Table table{{"lesson", "prediction", "answers", "predicted", "measured"}};
    for (const auto& each : summarize_answers(answers))
        table.rows.push_back(
            {each.lesson, each.prediction, each.answers, each.predicted, each.measured});
    std::string out = std::to_string(answers.learners) +
                      (answers.learners == 1 ? " learner\n" : " learners\n") +
                      to_text(table, table.columns.size());
    for (const auto& [file, reason] : answers.unreadable)
        out += one_line(file) + ": " + reason + '\n';
    return out;
}

std::string answers_csv(const ClassAnswers& answers, bool raw) {
    Table table{{"learner", "file", "lesson", "prediction", "predicted", "measured"}};
    for (const auto& row : answers.rows)
        table.rows.push_back({row.learner, row.file, row.lesson, row.prediction,
                              make_cell(row.answer), make_cell(row.measured)});
    return to_csv(table, raw);
}

std::string answers_json(const ClassAnswers& answers) {
    using Json = nlohmann::ordered_json;
    Json rows = Json::array(), unreadable = Json::array();
    for (const auto& row : answers.rows)
        rows.push_back({{"learner", row.learner},
                        {"file", row.file},
                        {"lesson", row.lesson},
                        {"prediction", row.prediction},
                        {"predicted", text_of(row.answer)},
                        {"measured", text_of(row.measured)}});
    for (const auto& [file, reason] : answers.unreadable)
        unreadable.push_back({{"file", file}, {"reason", reason}});
    const Json out = {
        {"learners", answers.learners}, {"answers", rows}, {"unreadable", unreadable}};
    return dumped(out) + "\n";
}

}  // namespace engine
