#include <iostream>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "engine/io/named_file.h"
#include "engine/train/trained_model.h"
#include "find_run.h"

namespace app {
namespace {

struct GenerateArguments {
    std::string run;
    std::string checkpoint = "last";
    std::string device = "auto";
    std::string temperature = "1";
    engine::GenerateOptions options;
    std::string out;
    std::int64_t count = 64;
    bool json = false;
};

double number_of(const std::string& name, const std::string& text) {
    if (const auto value = engine::to_number<double>(text)) return *value;
    throw engine::Error(engine::ErrorCode::settings, name + ": " + text + ": use a number");
}

int draw(engine::TrainedModel& model, const GenerateArguments& args) {
    if (args.out.empty()) {
        throw engine::Error(engine::ErrorCode::settings,
                            "generate: the model of this run draws pictures",
                            "Say where they go: -o FILE.png.");
    }
    engine::save_picture(args.out, model.draw(args.count, args.options.seed));
    if (args.json) {
        const nlohmann::ordered_json object = {
            {"pictures", args.count}, {"file", args.out}, {"step", model.step()}};
        std::cout << engine::dumped(object) << '\n';
    } else {
        (engine::is_standard_output(args.out) ? std::cerr : std::cout)
            << args.count << " pictures in " << engine::one_line(args.out) << '\n';
    }
    return 0;
}

int generate(const GenerateArguments& args) {
    const auto run = find_run(args.run);
    if (!run) return engine::exit_code(engine::ErrorCode::settings);
    engine::GenerateOptions options = args.options;
    options.temperature = number_of("--temperature", args.temperature);
    engine::TrainedModel model(run->summary.folder, args.checkpoint, args.device);
    if (model.draws()) return draw(model, args);
    if (const engine::Message note = model.unknown_in(options.prompt); !note.empty())
        std::cerr << "halftone: " << note.str() << '\n';
    std::string text = options.prompt;
    if (!args.json) std::cout << text << std::flush;
    model.generate(options, [&](const std::string& piece) {
        text += piece;
        if (!args.json) std::cout << piece << std::flush;
        return static_cast<bool>(std::cout);
    });
    if (args.json) {
        const nlohmann::ordered_json object = {{"text", text}, {"step", model.step()}};
        std::cout << engine::dumped(object);
    }
    std::cout << '\n';
    return 0;
}

}  // namespace

void describe_generate(Command command) {
    auto args = std::make_shared<GenerateArguments>();
    command.text("RUN", args->run, "A run of the history (its number or title), or its folder")
        .required()
        .not_empty();
    command.text("--prompt", args->options.prompt, "The text to continue");
    command.text("--temperature", args->temperature,
                 "1 draws as the model says, less is bolder, 0 takes the most probable (1)");
    command.number("--top-k", args->options.top_k, "Draw from the N most probable (0: all)")
        .within(0, 1'000'000'000);
    command.number("--length", args->options.length, "Words or characters to write (200)")
        .within(0, 1'000'000'000);
    command.number("--seed", args->options.seed, "Seed of the random numbers (1)")
        .within(0, 9'000'000'000'000'000'000);
    command.text("-o", args->out, "The PNG file for the pictures of an adversarial pair").takes("FILE");
    command.number("--count", args->count, "Pictures to draw (64)").within(1, 64);
    command.text("--checkpoint", args->checkpoint, "last (the default), best, or a number of steps")
        .not_empty().takes("last|best|STEP");
    command.text("--device", args->device, "auto, cpu, cuda or cuda:N").not_empty().takes("auto|cpu|cuda");
    command.flag("--json", args->json, "One JSON object on standard output");
    command.run([args] { return generate(*args); });
}

}  // namespace app
