#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>
#include <numeric>
#include <set>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "engine/base/table.h"
#include "engine/train/trained_model.h"
#include "find_run.h"

namespace app {
namespace {

using nlohmann::ordered_json;

struct PredictArguments {
    std::string run;
    std::vector<std::string> files;
    std::string text;
    std::string checkpoint = "last";
    std::string device = "auto";
    std::int64_t top = 3;
    double score = 0.5;
    std::string out;
    bool json = false;
};

/// The most probable classes, the best first; none if the output is NaN.
std::vector<std::size_t> best_classes(const engine::Answer& answer, std::int64_t most) {
    if (answer.best() < 0) return {};
    std::vector<std::size_t> order(answer.probabilities.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        return answer.probabilities[a] > answer.probabilities[b];
    });
    order.resize(std::min(order.size(), static_cast<std::size_t>(most)));
    return order;
}

/// The output is NaN.
bool is_none(const engine::Answer& answer) {
    return !answer.probabilities.empty() && answer.best() < 0;
}

/// Where the drawings of inputs go: NAME.drawn.png, and NAME-2.drawn.png for another input of the
/// same name, so that none overwrites another.
std::map<std::string, std::string> drawing_names(const std::vector<std::string>& inputs) {
    std::map<std::string, std::string> out;
    std::set<std::string> taken;
    for (const std::string& input : inputs) {
        if (out.contains(input)) continue;
        const std::string stem = std::filesystem::path(input).stem().string();
        std::string name = stem;
        for (int i = 2; !taken.insert(name).second; ++i) name = stem + '-' + std::to_string(i);
        out[input] = name + ".drawn.png";
    }
    return out;
}

class Printer {
public:
    Printer(const engine::TrainedModel& model, const PredictArguments& args)
        : model_(model), args_(args), drawings_(drawing_names(args.files)) {}

    /// The objects of a picture, from a score on.
    void print_found(const std::string& input, const engine::Picture& picture,
                     std::vector<engine::FoundObject> found) const {
        std::erase_if(found, [&](const auto& each) { return !(each.score >= args_.score); });
        engine::save_picture(drawing_file(input), engine::with_objects(picture, found));
        if (args_.json) return print_found_json(input, picture, found);
        for (const engine::FoundObject& each : found)
            std::cout << engine::one_line(input) << ": "
                      << engine::one_line(object_name(each)) << ' '
                      << engine::number_text("%.2f", each.score)
                      << engine::number_text(" at %.1f", each.box[0])
                      << engine::number_text(", %.1f", each.box[1])
                      << engine::number_text(" size %.1f", each.box[2])
                      << engine::number_text(" x %.1f", each.box[3]) << '\n';
        if (found.empty())
            std::cout << engine::one_line(input) << ": nothing from a score of " << args_.score
                      << " on\n";
    }
    void print(const std::string& input, const engine::Answer& answer) const {
        if (!answer.picture.rgb.empty()) engine::save_picture(drawing_file(input), answer.picture);
        if (args_.json)
            print_json(input, answer);
        else
            print_line(input, answer);
    }

private:
    /// Where the model's drawing of a picture goes: beside no picture unless that is asked for.
    std::string drawing_file(const std::string& input) const {
        return (std::filesystem::path(args_.out) / drawings_.at(input)).string();
    }
    std::string class_name(std::size_t index) const {
        const auto& names = model_.classes();
        return index < names.size() ? names[index] : std::to_string(index);
    }
    std::string object_name(const engine::FoundObject& object) const {
        return class_name(static_cast<std::size_t>(object.label - 1));
    }
    void print_found_json(const std::string& input, const engine::Picture& picture,
                          const std::vector<engine::FoundObject>& found) const {
        ordered_json list = ordered_json::array();
        for (const engine::FoundObject& each : found) {
            list.push_back(
                {{"class", object_name(each)}, {"score", each.score}, {"box", each.box}});
            if (!each.mask.empty())
                list.back()["segmentation"] = {{"size", {picture.height, picture.width}},
                                               {"counts", each.mask}};
        }
        std::cout << engine::dumped(ordered_json{{"input", input},
                                                 {"width", picture.width},
                                                 {"height", picture.height},
                                                 {"detections", std::move(list)},
                                                 {"drawing", drawing_file(input)}})
                  << '\n';
    }
    void print_json(const std::string& input, const engine::Answer& answer) const {
        ordered_json object = {{"input", input}};
        for (const std::size_t each : best_classes(answer, args_.top)) {
            object["classes"].push_back(
                {{"class", class_name(each)}, {"probability", answer.probabilities[each]}});
        }
        if (is_none(answer)) object["classes"] = nullptr;
        if (!answer.values.empty()) object["values"] = answer.values;
        if (!answer.picture.rgb.empty()) object["drawing"] = drawing_file(input);
        std::cout << engine::dumped(object) << '\n';
    }
    void print_line(const std::string& input, const engine::Answer& answer) const {
        std::cout << engine::one_line(input) << ':';
        const char* separator = " ";
        for (const std::size_t each : best_classes(answer, args_.top)) {
            std::cout << separator << engine::one_line(class_name(each)) << ' '
                      << engine::number_text("%.1f %%", answer.probabilities[each] * 100);
            separator = ", ";
        }
        if (is_none(answer)) std::cout << " no prediction: the output is NaN";
        for (const double value : answer.values) {
            std::cout << separator << (std::isnan(value) ? std::abs(value) : value);
            separator = ", ";
        }
        if (!answer.picture.rgb.empty())
            std::cout << separator << engine::one_line(drawing_file(input));
        std::cout << '\n';
    }

    const engine::TrainedModel& model_;
    const PredictArguments& args_;
    std::map<std::string, std::string> drawings_;
};

/// Predicts the rows of a table. False if one of them cannot be; the others are.
bool predict_rows(engine::TrainedModel& model, const std::string& file, const Printer& printer) {
    const engine::InputTable table = model.read_rows(file);
    for (const auto& note : table.notes)
        std::cerr << "halftone: " << engine::one_line(note.str()) << '\n';
    bool good = true;
    for (const engine::InputRow& row : table.rows) {
        const std::string place = file + " line " + std::to_string(row.line);
        engine::Message problem = row.problem;
        if (problem.empty()) {
            try {
                printer.print(place, model.answer(row.cells));
            } catch (const engine::Error& error) {
                if (error.code() != engine::ErrorCode::value) throw;
                problem = error.message();
            }
        }
        if (problem.empty()) continue;
        std::cerr << "halftone: " << engine::one_line(place + ": " + problem.str()) << '\n';
        good = good && row.dropped;
    }
    return good;
}

void print_filled(const std::vector<engine::FilledMask>& filled, bool json) {
    for (const engine::FilledMask& mask : filled) {
        ordered_json object = {{"place", mask.place}};
        std::string line = std::to_string(mask.place) + ":";
        for (const auto& word : mask.words) {
            object["words"].push_back({{"word", word.text}, {"probability", word.probability}});
            line += (line.back() == ':' ? " " : ", ") + word.text + " " +
                    engine::number_text("%.1f %%", word.probability * 100);
        }
        std::cout << (json ? engine::dumped(object) : line) << '\n';
    }
}

/// A text that cannot be filled is a mistake in the command.
std::vector<engine::FilledMask> fill(engine::TrainedModel& model, const PredictArguments& args) {
    try {
        return model.fill(args.text, args.top);
    } catch (const engine::Error& error) {
        if (error.code() != engine::ErrorCode::value) throw;
        throw engine::Error(engine::ErrorCode::settings, error.message(), error.hint());
    }
}

int predict(const PredictArguments& args) {
    const auto run = find_run(args.run);
    if (!run) return engine::exit_code(engine::ErrorCode::settings);
    engine::TrainedModel model(run->summary.folder, args.checkpoint, args.device);
    if (!args.text.empty()) {
        const engine::Message note = model.unknown_in(args.text);
        if (model.fills_masks() && !note.empty()) std::cerr << "halftone: " << note.str() << '\n';
        print_filled(fill(model, args), args.json);
        return 0;
    }
    if (model.fills_masks()) {
        throw engine::Error(engine::ErrorCode::settings,
                            "predict: the model of this run fills masks in a text",
                            "Give it one: --text \"to be or [MASK] to be\".");
    }
    if (args.files.empty())
        throw engine::Error(engine::ErrorCode::settings, "predict: FILE is required");
    if (!(args.score >= 0 && args.score <= 1))
        throw engine::Error(engine::ErrorCode::settings, "predict: --score: use a number from 0 to 1");
    const Printer printer(model, args);
    using Kind = engine::InputForm::Kind;
    bool good = true;
    for (const std::string& file : args.files) {
        if (model.form().kind == Kind::scene) {
            const engine::Picture picture = engine::load_picture(file, model.form().alpha);
            printer.print_found(file, picture, model.answer(picture).found);
        } else if (model.form().kind == Kind::picture) {
            printer.print(file, model.answer(engine::load_picture(file, model.form().alpha)));
        } else if (model.form().kind == Kind::row) {
            good = predict_rows(model, file, printer) && good;
        } else {
            throw engine::Error(engine::ErrorCode::settings,
                                "predict: the model of this run takes neither pictures nor rows",
                                "Language models continue a text, and adversarial pairs draw "
                                "pictures: use `halftone generate`.");
        }
    }
    return good ? 0 : engine::exit_code(engine::ErrorCode::data);
}

}  // namespace

void describe_predict(Command command) {
    auto args = std::make_shared<PredictArguments>();
    command.text("RUN", args->run, "A run of the history (its number or title), or its folder")
        .required()
        .not_empty();
    const Option files =
        command
            .texts("FILE", args->files,
                   "Pictures (PNG, JPEG), or tables in CSV: columns by the names in the header, by "
                   "position without one; a row that cannot be read is named, the others are "
                   "predicted, and the exit code is 3")
            .optional();
    command
        .text("--text", args->text,
              "Instead of files: a text in which a masked language model fills each [MASK]")
        .not_empty()
        .excludes(files);
    command.text("--checkpoint", args->checkpoint, "last (the default), best, or a number of steps")
        .not_empty().takes("last|best|STEP");
    command.text("--out", args->out,
                 "Folder for the drawings of an autoencoder or a detector, NAME.drawn.png, and "
                 "NAME-2.drawn.png for a second input of that name (the current one)").takes("FOLDER");
    command.number("--top", args->top, "Classes shown for each input (3)").within(1, 1000);
    command.number("--score", args->score,
                   "Detectors: the least score of an object, from 0 to 1 (0.5). The model itself "
                   "finds none below its score_threshold, usually 0.05");
    command.text("--device", args->device, "auto, cpu, cuda or cuda:N").not_empty().takes("auto|cpu|cuda");
    command.flag("--json", args->json, "One JSON object per line on standard output");
    command.run([args] { return predict(*args); });
}

}  // namespace app
