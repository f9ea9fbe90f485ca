// optim_steps SETTINGS.json OUT.safetensors: drives one of the engine's optimizers for
// optim_long.py.
//
// SETTINGS: {"optimizer": {"kind": "adamw", ...}, "weights": "f32", "masters": false, "sizes":
// [278011, 1],
//            "steps": 100, "skips": [2, 9], "bits": 24, "scale": 1024, "device": "cpu"}
// Weights and gradients come from draw(), so no file holds them. Every step is taken by a
// GradScaler; before the steps of `skips` one more is tried whose gradients hold an inf.
// SparseAdam's gradients name the elements of named_rows(), some twice with half the value. OUT:
// weight.K as the model has them, and master.K (f32, or f64), of every tensor after the last step.

#include <fstream>
#include <iostream>
#include <limits>

#include "engine/base/error.h"
#include "engine/optim/json_optimizer.h"
#include "kernels/cuda_device.h"
#include "ops/index/sparse.h"
#include "support/grad_scaler.h"
#include "tensor/device.h"
#include "tensor_file.h"

namespace engine {
namespace {

using nlohmann::json;

/// SplitMix64 of (stream, i): its leading bits, scaled to [-1, 1). Stream 0 gives the weights of
/// tensor k, stream t those of step t. The same function is in optim_long.py.
double draw(std::uint64_t stream, std::uint64_t tensor, std::uint64_t i, int bits) {
    std::uint64_t z = (stream << 40) + (tensor << 32) + i + 1;
    z *= 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return static_cast<double>((z ^ (z >> 31)) >> (64 - bits)) * std::ldexp(2.0, -bits) - 1;
}

std::vector<double> draws(std::uint64_t stream, std::size_t tensor, std::int64_t size, int bits,
                          double factor = 1) {
    std::vector<double> values(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < values.size(); ++i)
        values[i] = factor * draw(stream, tensor, i, bits);
    return values;
}

/// Runs of fourteen elements with gaps of seven, which move with the step. The same function is in
/// optim_long.py.
std::vector<std::size_t> named_rows(std::uint64_t step, std::int64_t size) {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i)
        if ((i / 7 + step) % 3 != 0) rows.push_back(i);
    return rows;
}

/// Every fifth row occurs twice.
Tensor sparse_gradient(const std::vector<double>& all, std::uint64_t step, DType type,
                       const Device& device) {
    const auto size = static_cast<std::int64_t>(all.size());
    const std::vector<std::size_t> named = named_rows(step, size);
    std::vector<double> rows, values, rest;
    for (const std::size_t row : named) {
        const bool twice = row % 5 == 0;
        rows.push_back(static_cast<double>(row));
        values.push_back(twice ? all[row] / 2 : all[row]);
        if (twice) rest.push_back(static_cast<double>(row));
    }
    for (const double row : rest) {
        rows.push_back(row);
        values.push_back(all[static_cast<std::size_t>(row)] / 2);
    }
    const auto n = static_cast<std::int64_t>(rows.size());
    return sparse_tensor(Tensor::of(rows, {1, n}, DType::i64, device),
                         Tensor::of(values, {n}, type, device), {size});
}

DType dtype_of(const std::string& name) {
    if (name == "f16") return DType::f16;
    if (name == "bf16") return DType::bf16;
    return name == "f64" ? DType::f64 : DType::f32;
}

peer::RawTensor raw(const Tensor& tensor) {
    const Tensor host = tensor.detach().copy_to(Device{});
    peer::RawTensor out{"F32", {host.shape().begin(), host.shape().end()}, {}};
    if (host.dtype() == DType::f16) out.dtype = "F16";
    if (host.dtype() == DType::bf16) out.dtype = "BF16";
    if (host.dtype() == DType::f64) out.dtype = "F64";
    const auto* bytes = static_cast<const std::uint8_t*>(host.data());
    out.bytes.assign(bytes, bytes + host.bytes());
    return out;
}

class Run {
public:
    Run(const json& settings, const Device& device)
        : device_(device),
          bits_(settings.at("bits")),
          sizes_(settings.at("sizes").get<std::vector<std::int64_t>>()),
          type_(dtype_of(settings.at("weights"))),
          sparse_(settings.at("optimizer").at("kind") == "sparse_adam"),
          scaler_({.init_scale = settings.at("scale"), .growth_interval = 1'000'000}) {
        for (std::size_t k = 0; k < sizes_.size(); ++k) {
            Tensor w = Tensor::of(draws(0, k, sizes_[k], bits_), {sizes_[k]}, type_, device);
            w.set_requires_grad(true);
            parameters_.push_back({"w" + std::to_string(k), w});
        }
        optimizer_ = make_optimizer(settings.at("optimizer"), parameters_,
                                    {.scaling_aware = true,
                                     .master_weights = settings.at("masters"),
                                     .write_grads = false});
        scaler_.scale(Tensor::zeros({}, DType::f32, device));
    }

    void step(std::uint64_t number, bool spoiled) {
        const double scale = scaler_.loss_scale();
        for (std::size_t k = 0; k < sizes_.size(); ++k) {
            auto values = draws(number, k, sizes_[k], bits_, scale);
            if (spoiled && k == 0) {
                const std::size_t at =
                    sparse_ ? named_rows(number, sizes_[k]).back() : values.size() - 1;
                values[at] = std::numeric_limits<double>::infinity();
            }
            parameters_[k].tensor.set_grad(sparse_
                                               ? sparse_gradient(values, number, type_, device_)
                                               : Tensor::of(values, {sizes_[k]}, type_, device_));
        }
        scaler_.step(*optimizer_);
        scaler_.update();
    }

    peer::TensorMap result() const {
        peer::TensorMap out;
        for (std::size_t k = 0; k < sizes_.size(); ++k) {
            const Tensor& w = parameters_[k].tensor;
            out["weight." + std::to_string(k)] = raw(w);
            const Tensor master = optimizer_->master(k);
            out["master." + std::to_string(k)] = raw(master.defined() ? master : w);
        }
        return out;
    }
    std::int64_t steps() const { return optimizer_->steps(); }

private:
    Device device_;
    int bits_;
    std::vector<std::int64_t> sizes_;
    DType type_;
    bool sparse_;
    std::vector<Parameter> parameters_;
    std::unique_ptr<Optimizer> optimizer_;
    GradScaler scaler_;
};

int run(const char* settings_path, const char* out_path) {
    std::ifstream file(settings_path);
    const json settings = json::parse(file);
    const Device device = resolve_device(settings.at("device"));
    const DeviceScope scope(device);
    Run run(settings, device);
    const std::vector<std::uint64_t> skips = settings.at("skips");
    const std::uint64_t steps = settings.at("steps");
    for (std::uint64_t t = 1; t <= steps; ++t) {
        if (std::find(skips.begin(), skips.end(), t) != skips.end()) run.step(t, true);
        run.step(t, false);
    }
    if (run.steps() != static_cast<std::int64_t>(steps)) {
        std::cerr << "applied " << run.steps() << " updates in place of " << steps << "\n";
        return 1;
    }
    peer::write_tensors(out_path, run.result());
    return 0;
}

}  // namespace
}  // namespace engine

int main(int argc, char** argv) {
    if (argc != 3) {
        std::cerr << "usage: optim_steps SETTINGS.json OUT.safetensors\n";
        return 2;
    }
    try {
        return engine::run(argv[1], argv[2]);
    } catch (const std::exception& error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
}
