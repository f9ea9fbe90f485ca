#include "engine/train/trained_model.h"

#include <algorithm>
#include <cmath>

#include "data/detection/detection_dataset.h"
#include "data/detection/drawn_detections.h"
#include "data/detection/mask_paste.h"
#include "engine/base/error.h"
#include "engine/runs/checkpoint.h"
#include "tasks/task_descriptor.h"
#include "tensor/device.h"
#include "tensor/layout.h"
#include "tensor/memory/memory.h"
#include "train/predict/input_rows.h"
#include "train/predict/part_report.h"
#include "train/predict/text_prompts.h"
#include "train/run/run_pictures.h"
#include "train/run/step_capsule.h"

namespace engine {

std::int64_t Answer::best() const {
    const bool has_nan = std::ranges::any_of(probabilities, [](double p) { return std::isnan(p); });
    if (probabilities.empty() || has_nan) return -1;
    return std::ranges::max_element(probabilities) - probabilities.begin();
}

Picture fit_to(const InputForm& form, const Picture& picture) {
    const bool square = form.width == form.height && form.short_side >= form.width;
    return square && form.short_side > 0 ? centre_square(picture, form.short_side, form.width)
                                         : fitted(picture, form.width, form.height);
}

Picture with_objects(Picture picture, std::span<const FoundObject> found) {
    std::vector<Detection> placed;
    for (const FoundObject& each : found) {
        Detection& out = placed.emplace_back(Detection{each.label, each.score, each.box});
        if (auto mask = read_run_length(each.mask, picture.height, picture.width))
            out.mask = std::move(*mask);
    }
    draw_detections(picture, placed);
    return picture;
}

struct TrainedModel::Impl {
    SavedRun saved;
    InputGuide guide;
    Predictor predictor;
    InputForm form;
    std::string task;
    std::vector<Metric> metrics;
    std::string target;
    std::filesystem::path folder;
    std::unique_ptr<const TokenizerPipeline> tokenizer;  // of a text that one cuts

    Impl(SavedRun saved_, InputGuide guide_, const Device& device)
        : saved(std::move(saved_)),
          guide(std::move(guide_)),
          predictor(saved, guide.schema, device),
          task(task_of(saved.config, guide.schema).kind),
          metrics(predictor.task().metrics()) {
        if (!guide.tokenizer.empty())
            tokenizer =
                std::make_unique<const TokenizerPipeline>(guide.tokenizer, "tokenizer.json");
        form.tokens = tokenizer != nullptr;
        describe_inputs();
        const FieldSpec* value = guide.schema.find(FieldKind::value);
        if (value != nullptr && !value->names.empty()) target = value->names.front();
    }

    void describe_inputs() {
        const FieldSpec input = predictor.task().model_shape().inputs.front();
        if (model_descriptor(saved.config.model)->output == ModelOutput::generated) {
            form.kind = InputForm::Kind::random;
        } else if (finds_objects()) {
            form.kind = InputForm::Kind::scene;
            form.channels = static_cast<int>(input.shape[0]);
            form.short_side = guide.short_side;
            form.long_side = guide.long_side;
            form.alpha = guide.alpha;
        } else if (input.kind == FieldKind::image) {
            form.kind = InputForm::Kind::picture;
            form.channels = static_cast<int>(input.shape[0]);
            form.height = static_cast<int>(input.shape[1]);
            form.width = static_cast<int>(input.shape[2]);
            form.short_side = guide.short_side;
            form.alpha = guide.alpha;
        } else if (input.kind == FieldKind::features) {
            form.kind = InputForm::Kind::row;
            describe_columns(input);
        } else if (model_descriptor(saved.config.model)->output == ModelOutput::token_scores &&
                   !guide.vocabulary.empty()) {
            form.kind = InputForm::Kind::text;
            form.words = guide.words;
        } else if (fills_masks()) {
            form.kind = InputForm::Kind::masked_text;
            form.words = guide.words;
            form.mask = mask_name(predictor.task(), guide);
            form.longest = predictor.model().context();
        }
    }

    bool finds_objects() const {
        return model_descriptor(saved.config.model)->output == ModelOutput::detections;
    }

    Answer find_objects(const Picture& picture) {
        predictor.begin();
        const Tensor predicted = in_layout(predictor.predict(make_scene(picture, guide)),
                                           Layout::contiguous);  // (1, detections, columns)
        predictor.take();
        const CanvasSize size =
            resized_size({picture.height, picture.width}, form.short_side, form.long_side);
        const PictureSizes sizes{static_cast<std::int32_t>(size.height),
                                 static_cast<std::int32_t>(size.width), picture.height,
                                 picture.width};
        const std::span<const float> rows(predicted.data_as<const float>(),
                                          static_cast<std::size_t>(predicted.numel()));
        const auto columns = static_cast<std::size_t>(predicted.size(2));
        Answer out;
        for (const Detection& each : place_detections(rows, columns, sizes))
            out.found.push_back({each.label, each.score, each.box,
                                 each.mask.counts.empty() ? "" : run_length_text(each.mask)});
        add_shapes(rows, columns, out.found);
        return out;
    }

    /// The probabilities behind the objects, which are the rows with a label in their order.
    static void add_shapes(std::span<const float> rows, std::size_t columns,
                           std::vector<FoundObject>& found) {
        constexpr std::size_t label = 5, shape = 6;
        auto object = found.begin();
        for (; rows.size() >= columns; rows = rows.subspan(columns)) {
            if (rows[label] == 0) continue;
            const auto of_row = rows.subspan(shape, columns - shape);
            (object++)->shape.assign(of_row.begin(), of_row.end());
        }
    }

    bool fills_masks() const {
        return model_descriptor(saved.config.model)->output == ModelOutput::masked_token_scores &&
               !guide.vocabulary.empty();
    }

    /// Data without named columns (generated points) have a column for each feature.
    void describe_columns(const FieldSpec& input) {
        if (guide.columns.empty()) {
            for (std::int64_t i = 0; i < input.shape.numel(); ++i)
                guide.columns.push_back(
                    {"x" + std::to_string(i + 1), {}, static_cast<std::size_t>(i)});
        }
        for (const GuideColumn& column : guide.columns) {
            InputForm::Column each{column.name, column.categories, 0};
            if (column.usual_number)
                each.usual = *column.usual_number;
            else if (column.categories.empty() && column.offset < input.normalization.mean.size())
                each.usual = static_cast<double>(input.normalization.mean[column.offset]);
            form.columns.push_back(std::move(each));
        }
    }

    /// The run read its text in lower case.
    bool is_lowercase() const {
        const auto found = saved.config.dataset.options.find("lowercase");
        return found != saved.config.dataset.options.end() && found->second == OptionValue(true);
    }

    TextForm text_form() const { return {guide, is_lowercase(), tokenizer.get()}; }

    std::string input_name() { return predictor.task().model_shape().inputs.front().name; }

    void require(InputForm::Kind kind, const char* what) const {
        if (form.kind == kind) return;
        throw Error(ErrorCode::value, msg("the model of this run does not take {}", what));
    }

    Answer answer(const std::shared_ptr<MadeSample>& sample) {
        predictor.begin();
        const Tensor predicted = predictor.predict(sample);
        predictor.take();
        Answer out;
        if (model_descriptor(saved.config.model)->output == ModelOutput::image) {
            PictureBands drawing = predictor.take_pictures();
            drawing.bands.erase(drawing.bands.begin(), drawing.bands.end() - 1);
            out.picture = drawn(drawing);
            return out;
        }
        const auto values = predicted.values();
        if (guide.schema.find(FieldKind::label) != nullptr && predicts_classes(task)) {
            out.probabilities = to_probabilities(values);
            return out;
        }
        const FieldSpec* value = guide.schema.find(FieldKind::value);
        for (std::size_t i = 0; i < values.size(); ++i) out.values.push_back(values[i]);
        if (value != nullptr) in_original_units(*value, out.values);
        return out;
    }
};

namespace {

/// A recipe is computed on a CPU, so `auto` is that for a run with one.
Device device_for(const RunConfig& config, const std::string& setting) {
    const bool on_cpu = setting == "auto" && resolve(config.precision).has_recipe();
    return resolve_device(on_cpu ? "cpu" : setting);
}

}  // namespace

TrainedModel::TrainedModel(const std::filesystem::path& run_folder, const std::string& checkpoint,
                           const std::string& device) {
    SavedRun saved = read_saved_run(find_checkpoint(run_folder, checkpoint).folder);
    InputGuide guide = read_input_guide(run_folder);
    const Device resolved = device_for(saved.config, device);
    impl_ = std::make_unique<Impl>(std::move(saved), std::move(guide), resolved);
    impl_->folder = run_folder;
}

TrainedModel::TrainedModel(const std::filesystem::path& run_folder, const StepCapsule& step,
                           const std::string& device) {
    SavedRun saved;
    saved.config = step.config;
    saved.training = step.before;
    const Device resolved = device_for(saved.config, device);
    impl_ = std::make_unique<Impl>(std::move(saved), read_input_guide(run_folder), resolved);
    impl_->folder = run_folder;
}

TrainedModel::~TrainedModel() {
    impl_.reset();
    release_cached_memory();  // of a size that no other run may ever ask for
}

const RunConfig& TrainedModel::config() const { return impl_->saved.config; }
std::int64_t TrainedModel::step() const { return impl_->saved.step(); }
const std::string& TrainedModel::task() const { return impl_->task; }
const std::vector<Metric>& TrainedModel::metrics() const { return impl_->metrics; }
const std::string& TrainedModel::target() const { return impl_->target; }
const InputForm& TrainedModel::form() const { return impl_->form; }

const std::vector<std::string>& TrainedModel::classes() const {
    static const std::vector<std::string> none;
    const FieldSpec* label = impl_->guide.schema.find(FieldKind::label);
    const bool has_classes = predicts_classes(impl_->task) || impl_->finds_objects();
    return label == nullptr || !has_classes ? none : label->names;
}

Answer TrainedModel::answer(const Picture& picture, bool framed) {
    if (impl_->finds_objects()) return impl_->find_objects(picture);
    impl_->require(InputForm::Kind::picture, "a picture");
    const InputForm& form = impl_->form;
    const Picture fit = framed ? fitted(picture, form.width, form.height) : fit_to(form, picture);
    const auto sample = std::make_shared<MadeSample>(impl_->guide.schema);
    std::vector<float>& pixels = sample->f32(impl_->input_name());  // H, W, C
    for (std::size_t i = 0; i < fit.rgb.size() / 3; ++i) {
        const std::uint8_t* rgb = &fit.rgb[i * 3];
        if (form.channels == 1) {
            // Luma of ITU-R BT.601.
            pixels[i] =
                static_cast<float>((0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]) / 255);
            continue;
        }
        for (std::size_t c = 0; c < 3; ++c) pixels[i * 3 + c] = static_cast<float>(rgb[c]) / 255.0f;
    }
    return impl_->answer(sample);
}

Answer TrainedModel::answer(const std::map<std::string, std::string>& row) {
    impl_->require(InputForm::Kind::row, "a row of a table");
    const auto sample = std::make_shared<MadeSample>(impl_->guide.schema);
    fill_features(sample->f32(impl_->input_name()), impl_->guide, impl_->form, row);
    if (const FieldSpec* ids = impl_->guide.schema.find(FieldKind::indices))
        fill_ids(sample->i64(ids->name), ids->cardinality, impl_->guide, row);
    return impl_->answer(sample);
}

InputTable TrainedModel::read_rows(const std::filesystem::path& file) const {
    impl_->require(InputForm::Kind::row, "a row of a table");
    return read_input_rows(file, impl_->guide, impl_->saved.config.dataset);
}

void TrainedModel::generate(const GenerateOptions& options,
                            const std::function<bool(const std::string&)>& take) {
    impl_->require(InputForm::Kind::text, "text to continue");
    generate_text(impl_->predictor, impl_->text_form(), options, take);
}

Message TrainedModel::unknown_in(const std::string& text) const {
    const InputForm& form = impl_->form;
    std::string known = text;
    if (form.kind == InputForm::Kind::masked_text) {
        for (std::size_t at; (at = known.find(form.mask)) != std::string::npos;)
            known.replace(at, form.mask.size(), form.words ? " " : "");
    } else if (form.kind != InputForm::Kind::text) {
        return {};
    }
    const TextForm read = impl_->text_form();
    return unknown_note(read, prompt_tokens(read, known));
}

bool TrainedModel::fills_masks() const { return form().kind == InputForm::Kind::masked_text; }

std::vector<FilledMask> TrainedModel::fill(const std::string& text, std::int64_t most) {
    if (!fills_masks())
        throw Error(ErrorCode::value, msg("the model of this run does not fill masks in a text"));
    return fill_masks(impl_->predictor, impl_->text_form(), text, most);
}

bool TrainedModel::draws() const { return form().kind == InputForm::Kind::random; }

Picture TrainedModel::draw(std::int64_t count, std::int64_t seed) {
    if (!draws())
        throw Error(ErrorCode::value, msg("the model of this run does not draw pictures"));
    if (count < 1 || count > Evaluator::max_pictures)
        throw Error(ErrorCode::value,
                    msg("{} pictures: draw 1 to {}", count, Evaluator::max_pictures));
    impl_->predictor.begin();
    impl_->predictor.predict(std::make_shared<MadeSample>(impl_->guide.schema, count), seed);
    impl_->predictor.take();
    return drawn(impl_->predictor.take_pictures());
}

PartReport TrainedModel::evaluate(const std::string& part, std::size_t hardest,
                                  const std::function<bool(double)>& progress, bool accept_data,
                                  const std::filesystem::path& results) {
    return report_on(impl_->predictor,
                     {impl_->folder, impl_->saved.config, impl_->task, accept_data, results}, part,
                     hardest, progress);
}

}  // namespace engine
