#include <charconv>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "engine/error.h"
#include "engine/trained_model.h"
#include "find_run.h"

namespace app {
namespace {

struct GenerateArguments {
    std::string run;
    std::string checkpoint = "last";
    std::string device = "auto";
    std::string temperature = "1";
    engine::GenerateOptions options;
    bool json = false;
};

double number_of(const std::string& name, const std::string& text) {
    double value = 0;
    const char* end = text.data() + text.size();
    const auto [stopped, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc() && stopped == end) return value;
    throw engine::Error(engine::ErrorCode::settings, name + ": " + text + ": use a number");
}

int generate(const GenerateArguments& args) {
    const auto run = find_run(args.run);
    if (!run) return engine::exit_code(engine::ErrorCode::settings);
    engine::GenerateOptions options = args.options;
    options.temperature = number_of("--temperature", args.temperature);
    engine::TrainedModel model(run->summary.folder, args.checkpoint, args.device);
    std::string text = options.prompt;
    if (!args.json) std::cout << text << std::flush;
    model.generate(options, [&](const std::string& piece) {
        text += piece;
        if (!args.json) std::cout << piece << std::flush;
        return static_cast<bool>(std::cout);
    });
    if (args.json) {
        const nlohmann::ordered_json object = {{"text", text}, {"step", model.step()}};
        std::cout << object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
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
    command
        .number("--top-k", args->options.top_k, "Draw among so many of the most probable (0: all)")
        .within(0, 1'000'000'000);
    command.number("--length", args->options.length, "Words or characters to write (200)")
        .within(0, 1'000'000'000);
    command.number("--seed", args->options.seed, "Seed of the draws (1)")
        .within(0, 9'000'000'000'000'000'000);
    command.text("--checkpoint", args->checkpoint, "last (the default), best, or a number of steps")
        .not_empty();
    command.text("--device", args->device, "auto, cpu, cuda or cuda:N").not_empty();
    command.flag("--json", args->json, "One JSON object on standard output");
    command.run([args] { return generate(*args); });
}

}  // namespace app
