#include "runs/checkpoint.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include "base/json_reader.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "io/file/atomic_file.h"
#include "io/file/file_modes.h"
#include "io/file/sha256.h"
#include "io/safetensors/tensor_file.h"
#include "runs/run_folder.h"

namespace engine {
namespace fs = std::filesystem;
namespace {

constexpr char prefix[] = "checkpoint-";
constexpr char unfinished[] = ".part";
constexpr char replaced_ending[] = ".old.part";  // a checkpoint that another one takes the place of
constexpr char state_file[] = "state.json";
constexpr char checksum_file[] = "state.sha256";  // as sha256sum writes it
constexpr char weights_file[] = "weights.safetensors";
constexpr char optimizer_file[] = "optimizer.safetensors";
constexpr char carried_file[] = "carried.safetensors";
constexpr char quantization_file[] = "quantization.safetensors";
constexpr std::int64_t version = 1;

/// Steps of "checkpoint-60"; nothing for another name.
std::optional<std::int64_t> step_of(const std::string& name) {
    if (!name.starts_with(prefix)) return std::nullopt;
    const auto step =
        to_number<std::int64_t>(std::string_view(name).substr(std::string_view(prefix).size()));
    if (!step || *step < 0) return std::nullopt;
    return prefix + std::to_string(*step) == name ? step : std::nullopt;
}

/// The place of "checkpoint-60.old.part" in its folder; nothing for another name.
std::optional<fs::path> place_of_replaced(const fs::path& path) {
    std::string name = path.filename().string();
    if (!name.ends_with(replaced_ending)) return std::nullopt;
    name.resize(name.size() - std::string_view(replaced_ending).size());
    return step_of(name) ? std::optional(path.parent_path() / name) : std::nullopt;
}

bool is_unfinished(const std::string& name) {
    return name.starts_with(prefix) && name.ends_with(unfinished) && !is_replaced_checkpoint(name);
}

[[noreturn]] void throw_damaged(Message why) {
    throw Error(ErrorCode::data, std::move(why),
                msg("Resume from an earlier checkpoint of the run (--from)."));
}

std::string checksum_line(const std::string& text) {
    return sha256_of(std::as_bytes(std::span(text))) + "  " + state_file + "\n";
}

/// A checkpoint of an earlier version has none, and its state does not say so.
void check_state(const fs::path& checkpoint, const std::string& text, const json& state) {
    std::error_code error;
    const bool there = fs::exists(checkpoint / checksum_file, error);
    if (!there && !state.contains("checksum")) return;
    if (!there)
        throw_damaged(
            msg("{}: the checkpoint lacks this file", (checkpoint / checksum_file).string()));
    if (read_text(checkpoint / checksum_file) == checksum_line(text)) return;
    throw_damaged(
        msg("{}: the file is damaged, its checksum (SHA-256) differs from that in the "
            "checkpoint",
            (checkpoint / state_file).string()));
}

std::int64_t number_in(const json& state, const char* name) {
    const auto found = state.find(name);
    return found != state.end() && found->is_number_integer() ? found->get<std::int64_t>() : -1;
}

json read_state(const fs::path& checkpoint) {
    const fs::path file = checkpoint / state_file;
    const std::string text = read_text(file);
    json state = read_json(text);
    if (!state.is_object())
        throw_damaged(msg("{}: the state of the checkpoint cannot be read", file.string()));
    const auto number = [&](const char* name) { return number_in(state, name); };
    if (number("version") > version) {
        throw Error(ErrorCode::data,
                    msg("{}: the checkpoint is of a later version of this program", file.string()));
    }
    check_state(checkpoint, text, state);
    const auto step = step_of(checkpoint.filename().string());
    const bool whole = number("version") == version && number("step") >= 0 &&
                       (!step || number("step") == *step) && state.contains("files") &&
                       state["files"].is_object();
    if (!whole) throw_damaged(msg("{}: the checkpoint's state is incomplete", file.string()));
    return state;
}

void check_file(const fs::path& file, const json& files) {
    const auto found = files.find(file.filename().string());
    const bool listed = found != files.end() && found->is_object() && found->contains("sha256") &&
                        found->at("sha256").is_string();
    std::error_code error;
    const bool regular = fs::is_regular_file(fs::symlink_status(file, error));
    if (!listed || !regular)
        throw_damaged(msg("{}: the checkpoint lacks this file", file.string()));
    if (sha256_of(file) != found->at("sha256").get<std::string>()) {
        throw_damaged(
            msg("{}: the file is damaged, its checksum (SHA-256) differs from that "
                "in the checkpoint",
                file.string()));
    }
}

TensorMap read_tensors(const fs::path& file, const json& files) {
    check_file(file, files);
    return load_tensors(file);
}

/// The folder's entries are on the disk.
void sync_folder(const fs::path& folder) {
    const File opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened.is_open() || (::fsync(opened.descriptor()) != 0 && errno != EINVAL))
        throw_write_error(folder, errno);
}

json write_tensors(const fs::path& file, const TensorMap& tensors) {
    save_tensors(file, tensors, NamedBy::program);
    return {{"bytes", fs::file_size(file)}, {"sha256", sha256_of(file)}};
}

std::int64_t write_files(const fs::path& folder, const CheckpointContent& content) {
    json state = *content.state;
    json files = json::object();
    files[weights_file] = write_tensors(folder / weights_file, content.weights);
    files[optimizer_file] = write_tensors(folder / optimizer_file, content.optimizer);
    if (!content.carried.empty())
        files[carried_file] = write_tensors(folder / carried_file, content.carried);
    if (!content.quantization.empty())
        files[quantization_file] = write_tensors(folder / quantization_file, content.quantization);
    std::int64_t bytes = 0;
    for (const json& file : files) bytes += file.at("bytes").get<std::int64_t>();
    state["version"] = version;
    state["saved"] = Moment::now().local;
    state["files"] = std::move(files);
    state["checksum"] = checksum_file;
    const std::string text = dumped(state, 2) + "\n";
    write_file(folder / state_file, text);
    write_file(folder / checksum_file, checksum_line(text));
    sync_folder(folder);
    return bytes + static_cast<std::int64_t>(text.size());
}

std::int64_t size_of(const json& state) {
    std::int64_t bytes = 0;
    for (const json& file : state.at("files")) {
        if (file.is_object()) bytes += file.value("bytes", std::int64_t{0});
    }
    return bytes;
}

}  // namespace

bool exchange_folders(const fs::path& one, const fs::path& other) {
    return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
}

void move_into_place(const fs::path& written, const fs::path& place, FolderExchange exchange) {
    std::error_code error, ignored;
    const bool replaces = fs::exists(place, ignored);
    if (replaces && exchange(written, place)) {
        fs::remove_all(written, ignored);
        return sync_folder(place.parent_path());
    }
    const fs::path old = place.string() + replaced_ending;
    if (replaces) {
        fs::remove_all(old, ignored);
        fs::rename(place, old, error);
        if (error) throw_write_error(place, error.value());
    }
    fs::rename(written, place, error);
    if (error) {
        if (replaces) fs::rename(old, place, ignored);
        throw_write_error(place, error.value());
    }
    sync_folder(place.parent_path());
    fs::remove_all(old, ignored);  // only now: until here it is the only one that is surely whole
}

bool is_replaced_checkpoint(const fs::path& path) { return place_of_replaced(path).has_value(); }

void settle_replaced_checkpoints(const fs::path& run_folder) {
    std::error_code error, ignored;
    std::vector<fs::path> left;
    for (fs::directory_iterator it(run_folder, error), end; !error && it != end;
         it.increment(error)) {
        if (is_replaced_checkpoint(it->path())) left.push_back(it->path());
    }
    for (const fs::path& old : left) {
        const fs::path place = *place_of_replaced(old);
        if (fs::exists(fs::symlink_status(place, ignored))) {
            fs::remove_all(old, ignored);
        } else {
            fs::rename(old, place, ignored);
        }
    }
}

std::vector<CheckpointFolder> checkpoint_folders(const fs::path& run_folder) {
    std::vector<CheckpointFolder> out;
    std::error_code error, ignored;
    for (fs::directory_iterator it(run_folder, error), end; !error && it != end;
         it.increment(error)) {
        const auto step = step_of(it->path().filename().string());
        if (step && fs::is_directory(it->symlink_status(ignored)))
            out.push_back({it->path(), *step});
    }
    if (error)
        throw Error(ErrorCode::data,
                    msg("{}: cannot be read: {}", run_folder.string(), error.message()),
                    msg("Check the permissions of the folder."));
    std::ranges::sort(out, {}, &CheckpointFolder::step);
    return out;
}

std::vector<CheckpointInfo> list_checkpoints(const fs::path& run_folder) {
    std::vector<CheckpointInfo> out;
    try {
        for (const CheckpointFolder& each : checkpoint_folders(run_folder)) {
            try {
                const json state = read_state(each.folder);
                out.push_back({each.folder, each.step, state.value("best", false), size_of(state),
                               state.value("saved", std::string())});
            } catch (const Error&) {
            } catch (const json::exception&) {
            }
        }
    } catch (const Error&) {  // a folder that cannot be read has none
    }
    return out;
}

bool is_of_later_version(const fs::path& checkpoint) {
    const json state = read_json(read_text(checkpoint / state_file));
    return state.is_object() && number_in(state, "version") > version;
}

fs::path aside_of(const fs::path& checkpoint) {
    const std::string name = checkpoint.string() + ".damaged";
    std::error_code ignored;
    fs::path out = name;
    for (int n = 2; fs::exists(fs::symlink_status(out, ignored)); ++n)
        out = name + "-" + std::to_string(n);
    return out;
}

fs::path checkpoint_weights(const fs::path& checkpoint) { return checkpoint / weights_file; }

CheckpointInfo find_checkpoint(const fs::path& run_folder, const std::string& which) {
    const auto all = list_checkpoints(run_folder);
    const auto folders = checkpoint_folders(run_folder);
    const auto wanted = std::ranges::find_if(folders, [&](const CheckpointFolder& each) {
        return std::to_string(each.step) == which || (all.empty() && &each == &folders.back());
    });
    if (wanted != folders.end()) read_state(wanted->folder);  // says why it cannot be read
    if (all.empty()) {
        throw Error(ErrorCode::data, msg("{}: the run has no checkpoint", run_folder.string()),
                    msg("The settings under checkpoint decide when a run saves checkpoints."));
    }
    if (which == "last") return all.back();
    if (which == "best") {
        const auto best = std::find_if(all.rbegin(), all.rend(),
                                       [](const CheckpointInfo& each) { return each.best; });
        if (best != all.rend()) return *best;
        throw Error(ErrorCode::data,
                    msg("{}: no checkpoint is marked as the best one", run_folder.string()),
                    msg("Use \"last\", or one of these steps: {}.", join(all, ", ", &CheckpointInfo::step)));
    }
    const auto found = std::ranges::find_if(
        all, [&](const CheckpointInfo& each) { return std::to_string(each.step) == which; });
    if (found != all.end()) return *found;
    throw Error(ErrorCode::data,
                msg("{}: the run has no checkpoint \"{}\"", run_folder.string(), which),
                msg("Use \"last\", \"best\", or one of these steps: {}.", join(all, ", ", &CheckpointInfo::step)));
}

std::int64_t write_checkpoint(const fs::path& run_folder, const CheckpointContent& content,
                              const std::function<void()>& before_move) {
    const fs::path place =
        run_folder / (prefix + std::to_string(content.state->at("step").get<std::int64_t>()));
    const fs::path written = place.string() + unfinished;
    std::error_code ignored;
    settle_replaced_checkpoints(run_folder);
    fs::remove_all(written, ignored);
    try {
        if (const int failure = make_private_folder(written); failure != 0)
            throw_write_error(written, failure);
        const std::int64_t bytes = write_files(written, content);
        if (before_move) before_move();
        move_into_place(written, place, &exchange_folders);
        return bytes;
    } catch (...) {
        fs::remove_all(written, ignored);
        throw;
    }
}

CheckpointContent read_checkpoint(const fs::path& checkpoint) {
    CheckpointContent out;
    out.state = std::make_shared<json>(read_state(checkpoint));
    const json& files = out.state->at("files");
    out.weights = read_tensors(checkpoint / weights_file, files);
    out.optimizer = read_tensors(checkpoint / optimizer_file, files);
    if (files.contains(carried_file)) out.carried = read_tensors(checkpoint / carried_file, files);
    if (files.contains(quantization_file))
        out.quantization = read_tensors(checkpoint / quantization_file, files);
    return out;
}

void prune_checkpoints(const fs::path& run_folder, std::int64_t keep) {
    settle_replaced_checkpoints(run_folder);
    std::error_code error;
    std::vector<fs::path> doomed;
    for (fs::directory_iterator it(run_folder, error), end; !error && it != end;
         it.increment(error)) {
        if (is_unfinished(it->path().filename().string())) doomed.push_back(it->path());
    }
    const auto all = list_checkpoints(run_folder);
    std::int64_t best = -1;
    for (const auto& checkpoint : all) best = checkpoint.best ? checkpoint.step : best;
    for (std::int64_t i = 0; i + keep < std::ssize(all); ++i) {
        const CheckpointInfo& checkpoint = all[static_cast<std::size_t>(i)];
        if (checkpoint.step != best) doomed.push_back(checkpoint.folder);
    }
    for (const auto& folder : doomed) fs::remove_all(folder, error);
}

}  // namespace engine
