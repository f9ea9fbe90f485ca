#include <iostream>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "engine/machine.h"

namespace app {
namespace {

nlohmann::json to_json(const engine::MachineReport& report) {
    nlohmann::json precisions = nlohmann::json::array();
    for (const auto& pay : report.precisions) {
        precisions.push_back(
            {{"precision", pay.precision}, {"pays", pay.pays}, {"why", pay.why.str()}});
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
              {"note", report.cuda_note.str()}}},
            {"precisions", precisions}};
}

void print(const engine::MachineReport& report) {
    std::cout << "CPU     " << report.cpu << ", " << report.cores << " cores, "
              << (report.memory_bytes >> 30) << " GiB\n";
    std::cout << "        ";
    for (const auto& feature : report.features) std::cout << feature << ' ';
    std::cout << "\noneDNN  " << report.onednn << "\nCUDA    " << report.cuda_note.str() << '\n';
    for (const auto& pay : report.precisions) {
        std::cout << (pay.pays ? "pays    " : "        ") << pay.precision << ": " << pay.why.str()
                  << '\n';
    }
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
