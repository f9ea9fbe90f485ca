#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "engine/machine.h"

namespace app {
namespace {

/// Of this process: main() sets it unless the user has.
std::string cublas_workspaces() {
    const char* value = std::getenv("CUBLAS_WORKSPACE_CONFIG");
    return value ? value : "";
}

nlohmann::json to_json(const engine::MachineReport& report) {
    nlohmann::json precisions = nlohmann::json::array();
    for (const auto& pay : report.precisions) {
        precisions.push_back(
            {{"precision", pay.precision}, {"pays", pay.pays}, {"why", pay.why.str()}});
    }
    nlohmann::json cards = nlohmann::json::array(), libraries = nlohmann::json::array(),
                   generations = nlohmann::json::array();
    for (const auto& card : report.cards) {
        cards.push_back({{"name", card.name},
                         {"capability", card.capability},
                         {"generation", card.generation},
                         {"memory_bytes", card.memory_bytes}});
    }
    for (const auto& library : report.libraries) {
        libraries.push_back({{"name", library.name},
                             {"found", library.found},
                             {"version", library.version},
                             {"path", library.path},
                             {"problem", library.problem},
                             {"searched", library.searched}});
    }
    for (const auto& generation : engine::gpu_generations()) {
        generations.push_back({{"name", generation.name},
                               {"cards", generation.cards},
                               {"runs", generation.runs},
                               {"fp16", generation.fp16},
                               {"bf16", generation.bf16},
                               {"tf32", generation.tf32},
                               {"note", generation.note.str()}});
    }
    return {{"cpu", report.cpu},
            {"cores", report.cores},
            {"memory_bytes", report.memory_bytes},
            {"features", report.features},
            {"bf16_native", report.bf16_native},
            {"fp16_native", report.fp16_native},
            {"onednn", report.onednn},
            {"cuda",
             {{"built", report.cuda_built},
              {"present", report.cuda_present},
              {"note", report.cuda_note.str()},
              {"driver", report.cuda_driver},
              {"cards", cards},
              {"libraries", libraries},
              {"cublas_workspace_config", cublas_workspaces()},
              {"generations", generations}}},
            {"precisions", precisions}};
}

void print_libraries(const engine::MachineReport& report) {
    for (const auto& library : report.libraries) {
        std::cout << "        " << library.name << ' ';
        if (library.found) {
            std::cout << library.version << " (" << library.path << ")\n";
            continue;
        }
        std::cout << "is missing: " << library.problem << "; looked for in";
        for (const auto& place : library.searched) std::cout << ' ' << place;
        std::cout << '\n';
    }
    if (!report.libraries.empty())
        std::cout << "        CUBLAS_WORKSPACE_CONFIG is " << cublas_workspaces() << '\n';
}

void print_cards(const engine::MachineReport& report) {
    for (std::size_t i = 0; i < report.cards.size(); ++i) {
        const auto& card = report.cards[i];
        std::cout << "cuda:" << i << "  " << card.name << ", compute capability " << card.capability
                  << " (" << card.generation << "), " << (card.memory_bytes >> 30) << " GiB\n";
    }
}

void print_generations() {
    const auto column = [](bool pays) { return pays ? "pays    " : "-       "; };
    std::cout
        << "\nWhat NVIDIA's cards gain\n                                fp16    bf16    tf32\n";
    for (const auto& generation : engine::gpu_generations()) {
        std::cout << std::left << std::setw(10) << generation.name << std::setw(22)
                  << generation.cards << column(generation.fp16) << column(generation.bf16)
                  << column(generation.tf32) << generation.note.str() << '\n';
    }
}

void print(const engine::MachineReport& report) {
    std::cout << "CPU     " << report.cpu << ", " << report.cores << " cores, "
              << (report.memory_bytes >> 30) << " GiB\n";
    std::cout << "        ";
    for (const auto& feature : report.features) std::cout << feature << ' ';
    std::cout << "\noneDNN  " << report.onednn << "\nCUDA    " << report.cuda_note.str() << '\n';
    print_cards(report);
    print_libraries(report);
    for (const auto& pay : report.precisions) {
        std::cout << (pay.pays ? "pays    " : "        ") << pay.precision << ": " << pay.why.str()
                  << '\n';
    }
    print_generations();
}

}  // namespace

void add_doctor(CLI::App& cli, int* exit_code) {
    auto json = std::make_shared<bool>(false);
    auto* command = cli.add_subcommand(
        "doctor", "What this machine can do, and why a precision does not pay here");
    command->add_flag("--json", *json, "One JSON object on standard output");
    command->callback([json, exit_code] {
        const engine::MachineReport report = engine::inspect_machine();
        if (*json)
            std::cout << to_json(report) << '\n';
        else
            print(report);
        *exit_code = 0;
    });
}

}  // namespace app
