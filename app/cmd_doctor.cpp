#include <cstdlib>
#include <iomanip>
#include <iostream>
#include <string>

#include "commands.h"
#include "engine/parallel/launch.h"
#include "engine/train/machine.h"
#include "json_output.h"

namespace app {
namespace {

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// main() sets them unless the user has.
CudaVariables cuda_variables() {
    return {variable("CUBLAS_WORKSPACE_CONFIG"), variable("CUDA_MODULE_LOADING")};
}

void print_libraries(const engine::MachineReport& report) {
    for (const auto& library : report.libraries) {
        std::cout << "        " << library.name << ' ';
        if (library.found) {
            const std::string build = library.cuda.empty() ? "" : " for CUDA " + library.cuda;
            std::cout << library.version << build << " (" << library.path << ")\n";
            continue;
        }
        std::cout << "is missing: " << library.problem << "; looked for in";
        for (const auto& place : library.searched) std::cout << ' ' << place;
        std::cout << '\n';
    }
    if (report.libraries.empty()) return;
    const CudaVariables variables = cuda_variables();
    std::cout << "        CUBLAS_WORKSPACE_CONFIG is " << variables.cublas_workspaces << '\n';
    if (!variables.module_loading.empty())
        std::cout << "        CUDA_MODULE_LOADING is " << variables.module_loading << '\n';
    std::cout << "        their fastest algorithms: " << report.measured_plans << " measured, in "
              << report.plan_file << '\n';
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

void print_launching() {
    const engine::LaunchFacts facts = engine::launch_facts();
    std::cout << "MPI     ";
    if (!facts.is_built) {
        std::cout << "not in this build: a run has one worker\n";
        return;
    }
    if (facts.mpi.empty()) {
        std::cout << facts.problem.str() << '\n';
        return;
    }
    const std::string file = facts.file.empty() ? "" : " (" + facts.file + ")";
    std::cout << facts.mpi << file;
    if (facts.mpirun.empty())
        std::cout << "; there is no mpirun in PATH to start workers with\n";
    else
        std::cout << ", workers are started by " << facts.mpirun << '\n';
}

void print(const engine::MachineReport& report) {
    std::cout << "CPU     " << report.cpu << ", " << report.cores << " cores, "
              << (report.memory_bytes >> 30) << " GiB\n";
    std::cout << "        ";
    for (const auto& feature : report.features) std::cout << feature << ' ';
    std::cout << "\n        level " << report.cpu_level << " (HALFTONE_CPU sets a lower one)";
    std::cout << "\noneDNN  " << report.onednn << "\nCUDA    " << report.cuda_note.str() << '\n';
    print_cards(report);
    print_libraries(report);
    print_launching();
    // The first is what the others are compared with.
    for (const auto& pay : report.precisions) {
        const bool baseline = &pay == &report.precisions.front();
        std::cout << (baseline ? "baseline  " : pay.pays ? "pays      " : "          ")
                  << pay.precision << ": " << pay.why.str() << '\n';
    }
    print_generations();
}

}  // namespace

void describe_doctor(Command command) {
    auto json = std::make_shared<bool>(false);
    command.flag("--json", *json, "One JSON object on standard output");
    command.run([json] {
        const engine::MachineReport report = engine::inspect_machine();
        if (*json)
            std::cout << to_json(report, engine::launch_facts(), cuda_variables()) << '\n';
        else
            print(report);
        return 0;
    });
}

}  // namespace app
