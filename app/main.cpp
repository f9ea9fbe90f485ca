#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <optional>

#include "commands.h"
#include "engine/base/error.h"
#include "engine/base/plain_text.h"
#include "engine/parallel/launch.h"
#include "interruption.h"
#include "terminal.h"
#ifdef HALFTONE_HAS_UI
#include "ui/run_window.h"
#endif

namespace {

#ifdef HALFTONE_HAS_UI
/// Whether Qt can open a window: without a display it would end the program. A platform chosen by
/// name may not need a display.
bool has_display() {
    const auto given = [](const char* variable) {
        const char* value = std::getenv(variable);
        return value != nullptr && value[0] != '\0';
    };
    return given("DISPLAY") || given("WAYLAND_DISPLAY") || given("QT_QPA_PLATFORM");
}
#endif

/// Without a command: opens the window with the files on the command line, or prints the help in a
/// build without a window.
int open_window(const app::CommandLine& line, [[maybe_unused]] int argc,
                [[maybe_unused]] char** argv) {
    for (const auto& file : line.files()) {
        if (std::filesystem::exists(file)) continue;
        const std::string meant = line.nearest_command(file);
        std::cerr << "halftone: " << engine::one_line(file) << ": neither a command nor a file; "
                  << (meant.empty() ? "halftone --help lists the commands"
                                    : "did you mean halftone " + meant + "?")
                  << '\n';
        return app::CommandLine::usage_error;
    }
#ifdef HALFTONE_HAS_UI
    if (has_display()) return ui::run_window(argc, argv);
    std::cerr << "halftone: there is no display to open the window on; the commands need none\n\n"
              << line.help();
    return app::CommandLine::usage_error;
#else
    std::cout << line.help() << "\nThis build has no window.\n";
    return 0;
#endif
}

/// Opens closed standard streams. Otherwise the next opened file would get the number of a closed
/// stream and receive its output: a run's record would fill with JSON lines.
void open_closed_streams() {
    for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        if (fcntl(stream, F_GETFD) < 0) open("/dev/null", O_RDWR);  // takes the lowest free number
    }
}

/// Flushes standard output; the exit code is an error's if output was lost, unless the reader
/// closed the pipe.
int check_output(int exit_code) {
    std::cout.flush();
    if (std::cout) return exit_code;
    pollfd output{STDOUT_FILENO, POLLOUT, 0};
    const bool reader_left = poll(&output, 1, 0) == 1 && (output.revents & POLLERR) != 0;
    if (reader_left) return exit_code;
    std::cerr << "halftone: standard output cannot be written and is incomplete: check whether its "
                 "disk is full\n";
    return engine::exit_code(engine::ErrorCode::io);
}

void add_commands(app::CommandLine& line) {
#define HALFTONE_COMMAND(name, summary) app::describe_##name(line.add(#name, summary));
#include "commands.inc"
#undef HALFTONE_COMMAND
}

int report(const engine::Error& error) {
    std::cerr << "halftone: " << error.what() << '\n';
    if (!error.hint().empty()) std::cerr << error.hint().str() << '\n';
    return engine::exit_code(error.code());
}

}  // namespace

int main(int argc, char** argv) {
    open_closed_streams();
    engine::take_handed_output();
    const app::CleanOutput clean;
    // cuDNN's recurrent networks use two streams with one cuBLAS handle. Without this setting each
    // takes whichever workspace is free, so results differ from run to run. The environment may
    // only change while there is one thread.
    setenv("CUBLAS_WORKSPACE_CONFIG", ":4096:2", /*overwrite=*/0);
    // With several ranks all kernels are loaded at the start. Loading one at its first launch may
    // wait for an exchange's kernels, which wait for all ranks: a deadlock.
    if (engine::launched_rank().ranks > 1) setenv("CUDA_MODULE_LOADING", "EAGER", /*overwrite=*/0);
    // Writing beyond the file size limit or to a closed pipe then fails with an error message
    // instead of ending the program.
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    app::remove_parts_when_ended();
    app::CommandLine line(
        "Trains in mixed precision, and shows the loss scale and its skipped steps. Without a "
        "command: opens the window.");
    add_commands(line);
    try {
        const std::optional<int> exit_code = line.run(argc, argv);
        return check_output(exit_code ? *exit_code : open_window(line, argc, argv));
    } catch (const app::Interrupted&) {
        std::cerr << "halftone: stopped; nothing of it was kept\n";
        return 130;
    } catch (const engine::Error& error) {
        return report(error);
    } catch (const std::exception& error) {
        std::cerr << "halftone: " << error.what() << '\n';
        return engine::exit_code(engine::ErrorCode::training);
    }
}
