#include "tasks/task_golden.h"
#include "tasks/word_masking.h"

// Compares GPT-2 and BERT with transformers': tests/peer/transformer_golden.py.
namespace engine::test {
namespace {

const TaskGolden& golden() {
    static const TaskGolden file("transformers");
    return file;
}

struct Sizes {
    Sizes() {
        const auto text = golden().numbers("text"), of = golden().numbers("sizes");
        words = text[0], samples = text[1], window = text[2], positions = text[3];
        width = of[0], heads = of[1], feed_forward = of[2];
    }
    Options options(std::int64_t layers) const {
        return {{"layers", layers}, {"width", width},
                {"heads", heads},   {"feed_forward", feed_forward},
                {"dropout", 0.0},   {"context", positions}};
    }
    std::int64_t words, samples, window, positions, width, heads, feed_forward;
};

bool is_masked(const std::string& kind) { return kind == "bert"; }

/// The schema of the text. The task adds [MASK].
Schema text_schema(const std::string& kind, const Sizes& sizes) {
    Schema schema;
    FieldSpec field{.name = "tokens",
                    .kind = FieldKind::tokens,
                    .dtype = DType::i64,
                    .shape = {sizes.window},
                    .cardinality = sizes.words - (is_masked(kind) ? 1 : 0),
                    .windowed = true};
    schema.add(field);
    field.name = "target";
    field.kind = FieldKind::label;
    schema.add(field);
    return schema;
}

std::vector<std::int64_t> tokens(const Sizes& sizes, std::int64_t offset) {
    std::vector<std::int64_t> out;
    for (std::int64_t i = 0; i < sizes.samples * sizes.window; ++i)
        out.push_back((5 * i * i + 3 * i + offset) % (sizes.words - 1));
    return out;
}

Tensor field_of(const std::vector<std::int64_t>& values, const Sizes& sizes) {
    return Tensor::of({values.begin(), values.end()}, {sizes.samples, sizes.window}, DType::i64,
                      Device{});
}

/// The script's batch: its places(), and [MASK] at the first of them in each window.
DeviceBatch batch_of(const std::string& kind, const Sizes& sizes) {
    DeviceBatch batch{{}, sizes.samples, sizes.samples * sizes.window};
    std::vector<std::int64_t> shown = tokens(sizes, 0);
    if (!is_masked(kind)) {
        batch.fields = {field_of(shown, sizes), field_of(tokens(sizes, 1), sizes)};
        return batch;
    }
    const Tensor original = field_of(shown, sizes);
    std::vector<std::int64_t> places(shown.size());
    for (std::int64_t sample = 0; sample < sizes.samples; ++sample) {
        const auto first = static_cast<std::size_t>(sample * sizes.window);
        places[first] = 3 * sample % 5;
        places[first + 1] = 5 + 2 * sample % 5;
        shown[first + static_cast<std::size_t>(places[first])] = sizes.words - 1;
    }
    batch.fields = {field_of(shown, sizes), original, field_of(places, sizes)};
    return batch;
}

using KindAndPrecision = std::tuple<std::string, std::string>;
class TransformerStep : public testing::TestWithParam<KindAndPrecision> {};

TEST_P(TransformerStep, LossAndGradientsAreTheReferences) {
    const auto& [kind, precision] = GetParam();
    const Sizes sizes;
    RunConfig config = golden().settings(precision);
    config.bptt = sizes.window;
    config.model.kind = kind;
    config.model.options = sizes.options(1);
    SingleSteps steps(config, text_schema(kind, sizes), golden().weights(kind));
    const StepResult found = steps.step(batch_of(kind, sizes));
    const std::string key = kind + "/" + precision;
    expect_number(found.loss, golden().figures(key + "/loss"));
    EXPECT_DOUBLE_EQ(found.metrics.front(), std::exp(found.loss)) << "perplexity";
    EXPECT_TRUE(found.state.empty());
    expect_gradients(golden(), found, kind, key);
}

INSTANTIATE_TEST_SUITE_P(Kinds, TransformerStep,
                         testing::Combine(testing::Values("transformer-lm", "bert"),
                                          testing::ValuesIn(golden().list("precisions"))),
                         [](const auto& of) {
                             return label(std::get<0>(of.param) + "_" + std::get<1>(of.param));
                         });

TEST(TransformerGolden, MasksAsManyAsTheScript) { EXPECT_EQ(masked_count(Sizes().window), 2); }

/// "name size size ..." for each tensor of a model; tied ones appear under both names.
std::vector<std::string> state_dict(const Model& model) {
    std::map<std::string, Shape> shapes;
    for (const Parameter& parameter : model.parameters())
        shapes[parameter.name] = parameter.tensor.shape();
    for (const TensorAlias& alias : model.aliases()) shapes[alias.name] = shapes.at(alias.of);
    std::vector<std::string> out;
    for (const auto& [name, shape] : shapes) {
        std::string line = name;
        for (const std::int64_t size : shape) line += " " + std::to_string(size);
        out.push_back(line);
    }
    return out;
}

TEST(TransformerGolden, StateDictsHaveTransformersNamesAndShapes) {
    const Sizes sizes;
    for (const char* kind : {"transformer-lm", "bert"}) {
        ModelConfig config;
        config.kind = kind;
        config.options = sizes.options(2);
        const FieldSpec input{.name = "tokens",
                              .kind = FieldKind::tokens,
                              .dtype = DType::i64,
                              .shape = {sizes.window},
                              .cardinality = sizes.words,
                              .windowed = true};
        const auto model = make_model(config, {{input}, sizes.words}, std::nullopt, Device{});
        EXPECT_THAT(state_dict(*model), testing::UnorderedElementsAreArray(lines(
                                            golden().text(std::string(kind) + ".state_dict"))));
        EXPECT_TRUE(model->buffers().empty());
    }
}

}  // namespace
}  // namespace engine::test
