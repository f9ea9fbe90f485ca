#include "train/run/run_data.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "data/byte_reader.h"
#include "data/dataset_descriptor.h"
#include "data/detection/detection_truth.h"
#include "data/input_guide.h"
#include "data/schema_json.h"
#include "engine/base/error.h"
#include "engine/base/json.h"
#include "engine/base/plain_text.h"
#include "engine/data/changed_data.h"
#include "io/file/sha256.h"
#include "runs/event_file.h"
#include "train/run/run_steps.h"
#include "train/run/saved_run.h"

namespace engine {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_names = 8;
constexpr char order_mark[] = "order";  // name of dataset.order among the files

std::string first_names(const std::vector<std::string>& names) {
    std::string out;
    for (std::size_t i = 0; i < std::min(names.size(), max_names); ++i)
        out += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > max_names) out += ", ... (" + std::to_string(names.size()) + ")";
    return out;
}

std::vector<std::string> column_names(const InputGuide& guide) {
    std::vector<std::string> out;
    for (const GuideColumn& column : guide.columns) out.push_back(column.name);
    return out;
}

/// "features (3), label"
std::string form_of(const Schema& schema) {
    return join(schema.fields, ", ", [](const FieldSpec& field) {
        const std::string sizes = join(field.shape, " x ");
        return field.name + (sizes.empty() ? "" : " (" + sizes + ")");
    });
}

/// How the columns of a table differ.
std::optional<Message> other_columns(const InputGuide& was, const InputGuide& is) {
    const auto before = column_names(was), now = column_names(is);
    if (before != now)
        return msg("the columns are {} instead of {}", first_names(now), first_names(before));
    for (std::size_t i = 0; i < was.columns.size(); ++i) {
        const GuideColumn &a = was.columns[i], &b = is.columns[i];
        if (a.categories.empty() != b.categories.empty()) {
            return b.categories.empty() ? msg("column {} holds numbers instead of words", a.name)
                                        : msg("column {} holds words instead of numbers", a.name);
        }
        if (a.categories != b.categories)
            return msg("column {} holds the words {} instead of {}", a.name,
                       first_names(b.categories), first_names(a.categories));
    }
    return std::nullopt;
}

std::vector<std::string> sorted_names(std::vector<std::string> names) {
    std::ranges::sort(names);
    return names;
}

/// How the fields differ. The order of the classes does not count, nor do the sizes of detection
/// data, which are those of their largest picture and of the one with most objects.
std::optional<Message> other_fields(const Schema& was, const Schema& is) {
    const bool any_size = was.find(FieldKind::boxes) != nullptr;
    const auto same = [&](const FieldSpec& a, const FieldSpec& b) {
        return a.name == b.name && a.kind == b.kind && a.dtype == b.dtype &&
               (any_size ? a.shape.rank() == b.shape.rank() : a.shape == b.shape);
    };
    if (!std::ranges::equal(was.fields, is.fields, same))
        return msg("a sample has {} instead of {}", form_of(is), form_of(was));
    for (std::size_t i = 0; i < was.fields.size(); ++i) {
        const FieldSpec &a = was.fields[i], &b = is.fields[i];
        const bool label = a.kind == FieldKind::label;
        if (label && sorted_names(a.names) != sorted_names(b.names))
            return msg("the classes are {} instead of {}", first_names(b.names),
                       first_names(a.names));
        if (!label && a.names != b.names)
            return msg("{} is {} instead of {}", a.name, first_names(b.names),
                       first_names(a.names));
        if (a.cardinality != b.cardinality)
            return msg("{} has {} values instead of {}", a.name, b.cardinality, a.cardinality);
    }
    return std::nullopt;
}

InputGuide make_guide(const DataParts& data) {
    InputGuide guide{data.train.data->schema()};
    data.train.data->guide(guide);
    return guide;
}

/// Counts of a run of an earlier version, whose data.jsonl is missing. -1: unknown.
DataFingerprint counts_of_start(const fs::path& run_folder) {
    const auto started = last_start(run_folder);
    if (!started) return {-1, -1, -1, {}};
    return {started->train_samples, started->validation_samples, started->test_samples, {}};
}

/// Changed data as the run reads them: its own normalisation, and its own numbers of the classes.
class DataOfRun final : public Dataset {
public:
    DataOfRun(std::shared_ptr<const Dataset> data, const InputGuide& guide)
        : data_(std::move(data)), schema_(data_->schema()), guide_(guide) {
        const Schema& own = guide.schema;
        for (std::size_t i = 0; i < schema_.fields.size(); ++i) {
            FieldSpec& field = schema_.fields[i];
            field.normalization = own.fields[i].normalization;
            if (field.kind != FieldKind::label || field.names == own.fields[i].names) continue;
            label_ = i;
            const std::int64_t names = std::ssize(field.names);
            first_label_ = std::max<std::int64_t>(field.cardinality - names, 0);
            for (const std::string& name : field.names)
                classes_.push_back(std::ranges::find(own.fields[i].names, name) -
                                   own.fields[i].names.begin());
            field.names = own.fields[i].names;
        }
    }

    std::int64_t size() const override { return data_->size(); }
    const Schema& schema() const override { return schema_; }
    void read(std::int64_t index, const SampleFields& out) const override {
        data_->read(index, out);
        number_classes(out);
    }
    void read_augmented(std::int64_t index, const SampleFields& out,
                        const SamplePlace& place) const override {
        data_->read_augmented(index, out, place);
        number_classes(out);
    }
    CanvasSize canvas(std::span<const std::int64_t> indices,
                      const SamplePlace* first) const override {
        return data_->canvas(indices, first);
    }
    std::shared_ptr<const DetectionTruth> truth(std::int64_t index) const override {
        const auto as_read = data_->truth(index);
        if (!as_read || classes_.empty()) return as_read;
        auto out = std::make_shared<DetectionTruth>(*as_read);
        for (auto& each : out->annotations)
            each.label = static_cast<std::int32_t>(number_of_run(each.label));
        return out;
    }
    std::vector<std::int64_t> class_ids() const override {
        const std::vector<std::int64_t> as_read = data_->class_ids();
        if (as_read.empty() || classes_.empty()) return as_read;
        std::vector<std::int64_t> out(as_read.size());
        for (std::size_t i = 0; i < out.size(); ++i)
            out[static_cast<std::size_t>(classes_[i])] = as_read[i];
        return out;
    }
    bool decodes() const override { return data_->decodes(); }
    bool skips_damaged() const override { return data_->skips_damaged(); }
    void describe(DatasetPreview& preview) const override { data_->describe(preview); }
    void guide(InputGuide& guide) const override { guide = guide_; }
    bool is_stream() const override { return data_->is_stream(); }
    bool gives_bytes() const override { return data_->gives_bytes(); }

private:
    void number_classes(const SampleFields& out) const {
        if (classes_.empty()) return;
        for (std::int64_t& label : out.i64(label_)) label = number_of_run(label);
    }
    std::int64_t number_of_run(std::int64_t label) const {
        if (label < first_label_) return label;
        return classes_[static_cast<std::size_t>(label - first_label_)] + first_label_;
    }

    std::shared_ptr<const Dataset> data_;
    Schema schema_;
    InputGuide guide_;
    std::size_t label_ = 0;
    std::int64_t first_label_ = 0;  // of a class; detection's 0 stands behind a sample's objects
    std::vector<std::int64_t> classes_;  // the run's numbers; empty: they are the same
};

/// Parts of one data set stay parts of one.
void read_as_run(DataParts& data, const InputGuide& own) {
    std::map<const Dataset*, std::shared_ptr<const Dataset>> wrapped;
    for (DataPart* part : {&data.train, &data.validation, &data.test}) {
        if (!part->data) continue;
        auto& one = wrapped[part->data.get()];
        if (!one) one = std::make_shared<DataOfRun>(part->data, own);
        part->data = one;
    }
}

class Opener {
public:
    Opener(const fs::path& run_folder, const RunConfig& config, DataUse use, bool accept,
           const std::stop_token& stop)
        : folder_(run_folder), config_(config), use_(use), accept_(accept), stop_(stop) {
        if (!folder_.has_filename()) folder_ = folder_.parent_path();
        std::error_code error;
        // Without its own tokenizer the numbers of a run's tokens mean something else.
        if (fs::exists(kept_tokenizer(run_folder), error))
            was_ = read_input_guide(run_folder);
        else if (fs::exists(run_folder / "inputs.json", error))
            read([&] { was_ = read_input_guide(run_folder); });
        if (was_ && !was_->tokenizer.empty()) use_kept_tokenizer(run_folder);
        read([&] { kept_ = read_data_fingerprint(run_folder); });
    }

    RunData open() {
        out_.parts = open_dataset(config_.dataset, config_.seed, stop_);
        bool other_numbers = read_text_again();
        if (was_) {
            const InputGuide is = make_guide(out_.parts);
            refuse_other_schema(is);
            other_numbers = other_numbers || has_other_order(is.schema);
        }
        out_.fingerprint = make_fingerprint(out_.parts, config_.dataset, stop_);
        compare_samples();
        compare_contents(other_numbers);
        return std::move(out_);
    }

private:
    std::string run() const { return folder_.filename().string(); }

    void use_kept_tokenizer(const fs::path& run_folder) {
        for (const OptionSpec& spec : dataset_descriptor(config_.dataset.kind).options)
            if (spec.is_file)
                config_.dataset.options[spec.name] = kept_tokenizer(run_folder).string();
    }

    /// A damaged file prevents the comparison, which is reported, but not the run.
    template <typename F>
    void read(const F& f) {
        try {
            f();
        } catch (const Error& error) {
            out_.notes.push_back(
                msg("{}, so the data were not compared with it.", error.message().str()));
        }
    }

    /// A text whose vocabulary is another one now is read by that of the run.
    bool read_text_again() {
        if (!was_ || was_->vocabulary.empty() || !was_->tokenizer.empty()) return false;
        const InputGuide is = make_guide(out_.parts);
        if (is.vocabulary == was_->vocabulary || is.vocabulary.empty()) return false;
        out_.parts = open_dataset_as(was_->vocabulary, config_.dataset, config_.seed, stop_);
        return true;
    }

    void refuse_other_schema(const InputGuide& is) const {
        auto found = other_columns(*was_, is);
        if (!found) found = other_fields(was_->schema, is.schema);
        if (!found) return;
        throw Error(ErrorCode::data,
                    msg("The data set no longer has the columns or classes of run {}: {}.", run(),
                        found->str()),
                    msg("Put the data back as they were, or train a new run on these."));
    }

    /// The classes have other numbers than in the run.
    bool has_other_order(const Schema& is) const {
        const auto same = [](const FieldSpec& a, const FieldSpec& b) {
            return a.kind != FieldKind::label || a.names == b.names;
        };
        return !std::ranges::equal(was_->schema.fields, is.fields, same);
    }

    Message what_to_do() const {
        switch (use_) {
            case DataUse::replay:
                return msg(
                    "Put the data back as they were: a step is computed again from the "
                    "samples that it had.");
            case DataUse::evaluate:
                return msg(
                    "Put the data back as they were, or evaluate on these with "
                    "halftone eval RUN --accept-data.");
            case DataUse::sweep:
                return msg(
                    "Put the data back as they were, go on with these (halftone sweep "
                    "--accept-data), or train all runs once more (--again).");
            case DataUse::go_on:
                break;
        }
        return msg(
            "Put the data back as they were, or go on with these: halftone resume RUN "
            "--accept-data.");
    }

    /// Throws ChangedData unless the difference was accepted, or Error(data) where nobody can.
    void refuse_change(const Message& change) const {
        if (use_ == DataUse::replay) throw Error(ErrorCode::data, change, what_to_do());
        if (!accept_) throw ChangedData(change, what_to_do(), !out_.same_size);
    }

    void compare_samples() {
        const DataFingerprint& is = out_.fingerprint;
        const DataFingerprint was = kept_ ? *kept_ : counts_of_start(folder_);
        if (was.train < 0) return;
        out_.same_size = std::tuple(was.train, was.validation, was.test) ==
                         std::tuple(is.train, is.validation, is.test);
        if (out_.same_size) return;
        const Message other =
            msg("The data set has {} training, {} validation and {} test samples; run {} had {}, "
                "{} and {}.",
                is.train, is.validation, is.test, run(), was.train, was.validation, was.test);
        refuse_change(other);
        out_.notes.push_back(other);
    }

    void compare_contents(bool other_numbers) {
        DataChange change;
        if (kept_)
            change = compare_data(*kept_, out_.fingerprint.files, stop_);
        else
            out_.notes.push_back(
                msg("Run {} kept no list of its data files (an earlier version made it), so only "
                    "columns, classes and numbers of samples were compared.",
                    run()));
        pass_hashes_on();
        if (change.empty() && !other_numbers) return;
        const std::string what =
            change.empty() ? msg("tokens or classes have other numbers").str() : change.text();
        const Message other = msg("The data have changed since run {} read them: {}.", run(), what);
        if (use_ != DataUse::evaluate) refuse_change(other);
        out_.notes.push_back(other);
        if (was_) read_as_run(out_.parts, *was_);
    }

    /// Contents that were found to be the same need not be read for their checksum again.
    void pass_hashes_on() {
        const auto& files = out_.fingerprint.files;
        for (std::size_t i = 0; i < files.size() && files[i].name != order_mark; ++i)
            out_.parts.files->add_hash(i, files[i].hashed, files[i].hash);
    }

    fs::path folder_;
    RunConfig config_;
    const DataUse use_;
    const bool accept_;
    const std::stop_token stop_;
    std::optional<InputGuide> was_;
    std::optional<DataFingerprint> kept_;
    RunData out_;
};

}  // namespace

DataFingerprint make_fingerprint(const DataParts& data, const DatasetConfig& config,
                                 const std::stop_token& stop) {
    DataFingerprint out{data.train.size(), data.validation.size(), data.test.size(), {}};
    if (data.files) out.files = data.files->marks();
    if (config.order.empty()) return out;
    ReadFiles order({config.order});
    order.add_unread(stop);
    for (FileMark& mark : order.marks()) {
        mark.name = order_mark;
        out.files.push_back(std::move(mark));
    }
    return out;
}

void keep_run_data(const fs::path& run_folder, const DataParts& data,
                   const DataFingerprint& fingerprint) {
    write_input_guide(run_folder, make_guide(data));
    write_data_fingerprint(run_folder, fingerprint);
}

RunData open_run_data(const fs::path& run_folder, const RunConfig& config, DataUse use, bool accept,
                      const std::stop_token& stop) {
    return Opener(run_folder, config, use, accept, stop).open();
}

RunData open_data(const RunConfig& config, const SessionOptions& options,
                  const std::stop_token& stop) {
    const auto& from = options.continuation;
    const fs::path run = from ? from->run_folder : options.data_of;
    // A run of a sweep that may have other data than those before it has them as its own.
    const bool any = !from && options.accept_data;
    if (run.empty() || any)
        return {.parts = open_dataset(config.dataset, config.seed, stop), .fingerprint = {}};
    try {
        return open_run_data(run, config, options.data_use, options.accept_data, stop);
    } catch (const ChangedData& changed) {
        if (!changed.other_size() || !from || from->checkpoint.empty()) throw;
        RunProgress progress;
        load_state(progress, read_saved_run(from->checkpoint).progress);
        if (progress.batch == 0) throw;
        throw Error(ErrorCode::data, changed.message(),
                    msg("Put the data back as they were, resume from a checkpoint at the end of an "
                        "epoch (--from), or train a new run."));
    }
}

void check_same_data(Communicator& ranks, const DataParts& data, const LoaderOptions& options) {
    const Schema& fields = data.train.data->schema();
    nlohmann::ordered_json told{{"train", data.train.size()},
                                {"test", data.test.size()},
                                {"validation", data.validation.size()}};
    for (const FieldSpec& field : fields.fields) told["fields"].push_back(field);
    Batch batch;
    Collator(data.train, fields, options).make(batch, 0, 0);
    for (const BatchField& field : batch.fields)
        told["batch"].push_back(sha256_of(std::span<const std::byte>(field.bytes)));
    // Classes have the names of folders, which may be any bytes.
    require_same(ranks, dumped(told), [rank = ranks.rank()](const std::string&) {
        return msg("Rank {} has another data set than rank 0.", rank);
    });
}

}  // namespace engine
