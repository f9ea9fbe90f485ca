#include <algorithm>
#include <iterator>

#include "engine/base/error.h"
#include "models/mask_rcnn.h"
#include "models/network_body.h"
#include "models/network_model.h"

namespace engine {
namespace {

/// The stages of a network that its user wrote.
class WrittenBody final : public DetectorBody {
public:
    WrittenBody(network::NetworkGraph graph, TensorRegistry& registry, const Device& device,
                std::optional<double> frozen_eps)
        : network_(std::move(graph), registry, device, frozen_eps), use_(network_.input_use()) {}

    void run(const Model& model, const Tensor& pictures, const Seen& seen) const override {
        network::LayerPass pass(model.random);
        const auto checked = [&](std::size_t stage, const Tensor& map) {
            const std::int64_t stride = std::int64_t{4} << stage;
            for (int dim = 2; dim < 4; ++dim)
                if (map.size(dim) * stride != pictures.size(dim))
                    refuse_size(pictures, "stage " + std::to_string(stage + 1) + " is " +
                                              std::to_string(map.size(2)) + " x " +
                                              std::to_string(map.size(3)));
            seen(stage, map);
        };
        try {
            network_.run(model, {pictures}, pass, checked);
        } catch (const Error& error) {
            if (error.code() != ErrorCode::shape || has_own_size(pictures)) throw;
            refuse_size(pictures, error.what());
        }
    }

    std::int64_t width(std::size_t stage) const override {
        return value(stage).type.sizes[1].number;
    }

    std::int64_t part_of(std::string_view parameter) const override {
        const auto& all = network_.graph().parameters;
        const auto found = std::ranges::find(all, parameter, &network::GraphParameter::name);
        if (found == all.end() || found->node < first_of_stages()) return 0;
        std::int64_t part = 1;
        for (std::size_t i = 0; i + 1 < stage_count; ++i) part += found->node > value(i).node;
        return part;
    }

    bool casts_inputs_first() const override { return use_.casts_first; }
    bool convolves_inputs_first() const override { return use_.convolved; }

private:
    /// Whether they have the size for which the text was checked. Canvases of other batches can be
    /// smaller.
    bool has_own_size(const Tensor& pictures) const {
        const network::NetworkGraph& graph = network_.graph();
        const auto& own = graph.values[static_cast<std::size_t>(graph.inputs.front())].type.sizes;
        return own[2].number == pictures.size(2) && own[3].number == pictures.size(3);
    }
    [[noreturn]] static void refuse_size(const Tensor& pictures, const std::string& why) {
        throw Error(ErrorCode::settings,
                    msg("The network does not take pictures of {} x {} pixels: {}", pictures.size(2),
                        pictures.size(3), why),
                    msg("A detector's pictures differ in size: use layers that take any, and no "
                        "Linear behind Flatten. With dataset.canvas=fixed training has one size."));
    }
    const network::GraphValue& value(std::size_t stage) const {
        const network::NetworkGraph& graph = network_.graph();
        return graph.values[static_cast<std::size_t>(graph.outputs[stage])];
    }
    /// Where the outermost body that ends with the first stage begins, or else its last layer.
    int first_of_stages() const {
        const network::NetworkGraph& graph = network_.graph();
        const auto body =
            std::ranges::find(graph.bodies, graph.outputs.front(), &network::GraphBody::output);
        return body != graph.bodies.end() && body->end > body->first ? body->first
                                                                     : value(0).node;
    }

    network::NetworkBody network_;
    network::InputUse use_;
};

std::unique_ptr<Model> make_written_detector(const ModelSetup& setup) {
    const ModelConfig& model = setup.config;
    check_network_hash(model);
    NetworkData data = network_data(setup.shape, model.options);
    data.stages = true;
    network::NetworkGraph graph = network::faultless_graph(
        joined_lines(model.network), data, !model.init_from.empty() || !setup.seed);
    network::add_prefix(graph, DetectorBody::prefix);
    std::optional<double> frozen_eps;
    if (setup.options.word("norm") == "frozen")
        frozen_eps = setup.options.number("frozen_norm_eps");
    return make_detector(setup, [&](TensorRegistry& registry) {
        return std::make_unique<WrittenBody>(std::move(graph), registry, setup.device, frozen_eps);
    });
}

}  // namespace

ModelDescriptor maskrcnn_file_descriptor() {
    return {.kind = "maskrcnn-file",
            .title = "Mask R-CNN, own network",
            .summary = "Finds objects, their boxes and masks, with the stages of a network that you "
                       "write.",
            .inputs = {FieldKind::image},
            .output = ModelOutput::detections,
            .options = detector_options(small_detector_defaults()),
            .from_text = true,
            .make = make_written_detector};
}

}  // namespace engine
