#include <future>
#include <thread>

#include "autograd/backward.h"
#include "harness.h"
#include "kernels/cuda_device.h"
#include "needs_cuda.h"
#include "ops/linalg/matmul.h"
#include "ops/loss/loss.h"
#include "ops/shape/sum.h"
#include "ops/shape/view.h"

// One scaler, nets on the CPU and on a GPU (loss-scaler.md#several-devices, 2.10), data parallel by
// threads (training-loops.md#data-parallel-in-one-process, 3.6), and regions of one kind of device
// beside tensors of the other.
namespace engine {
namespace {

constexpr Device cpu{};
constexpr Device cuda{Device::Kind::cuda, 0};
constexpr Device second_cuda{Device::Kind::cuda, 1};

bool two_gpus() { return kernels::cuda::device_count() > 1; }

/// Two devices, in either order: the CPU and a GPU, or two GPUs if there are two.
std::vector<std::pair<Device, Device>> device_pairs() {
    std::vector<std::pair<Device, Device>> pairs{{cpu, cuda}, {cuda, cpu}};
    if (two_gpus()) pairs.insert(pairs.end(), {{cuda, second_cuda}, {second_cuda, cuda}});
    return pairs;
}

Tensor leaf_on(const Device& device, const Tensor& values) {
    Tensor t = values.detach().copy_to(device);
    if (t.impl() == values.impl()) t = values.detach();
    return t.set_requires_grad(true);
}

Net net_on(const Device& device, unsigned seed) {
    Net net(seed);
    for (auto& parameter : net.parameters) parameter = leaf_on(device, parameter);
    return net;
}

TEST(SeveralDevices, S9_ScalesNestedContainersOnTwoDevicesAndKeepsScaleOnTheFirst) {
    HALFTONE_NEEDS_CUDA();
    for (const auto& [first, second] : device_pairs()) {
        GradScaler scaler({.init_scale = 2});
        const Tensor a = Tensor::full({2}, 4, DType::f32, first),
                     b = Tensor::full({2}, 4, DType::f32, second);
        const std::vector<std::tuple<Tensor, Tensor>> nested{{a, b}, {b, a}};
        for (const auto& [x, y] : scaler.scale(nested)) {
            EXPECT_THAT(x.values(), testing::Each(8));
            EXPECT_THAT(y.values(), testing::Each(8));
            EXPECT_FALSE(x.device() == y.device());
        }
        EXPECT_EQ(scaler.scale_tensor().device(), first);
    }
}

TEST(SeveralDevices, S3_AnInfIsFoundByTheOptimizerOfItsDeviceAlone) {
    HALFTONE_NEEDS_CUDA();
    for (const auto& [first, second] : device_pairs()) {
        for (int k = 0; k < 6; ++k) {
            const bool aware = k >= 3;
            const int bad = k % 3 - 1;
            TensorList weights;
            std::vector<std::unique_ptr<Sgd>> optimizers;
            for (const Device& device : {first, second}) {
                weights.push_back(leaf_on(device, Tensor::full({4}, 1, DType::f32, device)));
                weights.back().set_grad(Tensor::full({4}, 8, DType::f32, device));
                optimizers.push_back(
                    std::make_unique<Sgd>(named({weights.back()}), SgdOptions{.lr = 1},
                                          OptimizerOptions{.scaling_aware = aware}));
            }
            if (bad >= 0) set_element(weights[static_cast<std::size_t>(bad)].grad(), 3, infinity);
            GradScaler scaler({.init_scale = 4});
            scaler.scale(Tensor::scalar(1, DType::f32, second));
            for (const auto& optimizer : optimizers) scaler.step(*optimizer);
            for (int i = 0; i < 2; ++i) {
                const auto which = static_cast<std::size_t>(i);
                EXPECT_EQ(scaler.skipped(*optimizers[which]), i == bad);
                EXPECT_THAT(weights[which].values(), testing::Each(i == bad ? 1 : -1));
            }
            scaler.update();
            EXPECT_EQ(scaler.loss_scale(), bad < 0 ? 4 : 2);
        }
    }
}

TEST(SeveralDevices, S2_AnOptimizerRefusesParametersOfTwoDevices) {
    HALFTONE_NEEDS_CUDA();
    for (const auto& [first, second] : device_pairs()) {
        const TensorList mixed{Tensor::full({2}, 1, DType::f32, first),
                               Tensor::full({2}, 1, DType::f32, second)};
        expect_error(ErrorCode::value, "another device", [&] { Sgd(named(mixed), {.lr = 1}); });
    }
}

TEST(SeveralDevices, S10_TwoHandlesOfOneGpuAreOneKeyAndAnotherIndexIsNot) {
    if (!two_gpus()) GTEST_SKIP() << "there are no two CUDA devices";
    const Device again{Device::Kind::cuda, 1};
    const TensorList one{leaf_on(second_cuda, Tensor::full({2}, 1, DType::f32, second_cuda)),
                         leaf_on(again, Tensor::full({2}, 1, DType::f32, again))};
    for (const Tensor& weight : one) weight.set_grad(Tensor::full({2}, 2, DType::f32, again));
    Sgd optimizer(named(one), {.lr = 1});  // parameters of one device only
    const Tensor other = leaf_on(cuda, Tensor::full({2}, 1, DType::f32, cuda));
    other.set_grad(Tensor::full({2}, infinity, DType::f32, cuda));
    Sgd elsewhere(named({other}), {.lr = 1});
    GradScaler scaler({.init_scale = 2});
    scaler.scale(Tensor::scalar(1, DType::f32, again));
    scaler.unscale_(optimizer);
    scaler.unscale_(elsewhere);
    scaler.step(optimizer);
    scaler.step(elsewhere);
    EXPECT_FALSE(scaler.skipped(optimizer)) << "the flag of cuda:1 is for both its tensors";
    EXPECT_TRUE(scaler.skipped(elsewhere)) << "cuda:0 has its own";
    for (const Tensor& weight : one) EXPECT_THAT(weight.values(), testing::Each(0));
}

TEST(SeveralDevices, S27_ANewScaleFromAnotherGpuIsCopied) {
    if (!two_gpus()) GTEST_SKIP() << "there are no two CUDA devices";
    GradScaler scaler({.init_scale = 2});
    scaler.scale(Tensor::scalar(1, DType::f32, second_cuda));
    const Tensor given = Tensor::scalar(512, DType::f32, cuda);
    scaler.update(given);
    given.copy_from_host(std::vector<float>{3}.data());
    EXPECT_EQ(scaler.loss_scale(), 512);
    EXPECT_EQ(scaler.scale_tensor().device(), second_cuda);
    EXPECT_EQ(scaler.scale(Tensor::scalar(1, DType::f32, cuda)).item(), 512);
}

// Does not wait, and is ordered with the work of both GPUs.
TEST(SeveralDevices, ACopyBetweenGpusComesAfterWhatWasAndBeforeWhatFollows) {
    if (!two_gpus()) GTEST_SKIP() << "there are no two CUDA devices";
    std::vector<Tensor> copies;
    const Tensor source = Tensor::full({1000}, 0, DType::f32, cuda);
    const std::vector<float> later(1000, 99);
    const auto before = kernels::cuda::call_counts();
    for (int i = 0; i < 4; ++i) {
        { const Tensor freed = Tensor::full({1000}, -1, DType::f32, second_cuda); }
        const Tensor sum = add(source, static_cast<double>(i));
        copies.push_back(add(sum.copy_to(second_cuda), 0.5));
    }
    EXPECT_EQ(kernels::cuda::call_counts().synchronizations, before.synchronizations);
    source.copy_from_host(later.data());
    for (std::size_t i = 0; i < copies.size(); ++i) {
        EXPECT_EQ(copies[i].device(), second_cuda);
        EXPECT_THAT(copies[i].values(), testing::Each(static_cast<double>(i) + 0.5));
        EXPECT_THAT(copies[i].copy_to(cuda).values(), testing::Each(static_cast<double>(i) + 0.5));
    }
}

// The calling thread computes for cuda:0 throughout.
TEST(SeveralDevices, EveryKernelRunsOnTheDeviceOfItsTensors) {
    if (!two_gpus()) GTEST_SKIP() << "there are no two CUDA devices";
    const Net home = net_on(cuda, 3), away = net_on(second_cuda, 3);
    const Tensor input = Tensor::full({8, 8}, 0.25, DType::f32, cuda);
    const AutocastRegion region(Device::Kind::cuda, true, DType::f16);
    std::vector<std::vector<double>> grads[2];
    for (const Net* net : {&home, &away}) {
        const auto inside = region.enter();
        const Tensor x = input.copy_to(net->parameters[0].device());
        const Tensor out = (*net)(x);
        EXPECT_EQ(out.device(), net->parameters[0].device());
        backward(sum(out));
        for (const Tensor& parameter : net->parameters) {
            EXPECT_EQ(parameter.grad().device(), parameter.device());
            grads[net == &away].push_back(parameter.grad().values());
        }
    }
    EXPECT_EQ(grads[0], grads[1]);
    EXPECT_EQ(kernels::cuda::current_device(), 0);
}

struct TwoNets {
    TwoNets(const Device& home, const Device& away)
        : first(net_on(home, 1)), second(net_on(away, 2)) {}
    Net first, second;
    Sgd first_optimizer{named(first.parameters), SgdOptions{.lr = 1}};
    Sgd second_optimizer{named(second.parameters), SgdOptions{.lr = 1}};
    double scale = 1;
};

std::unique_ptr<TwoNets> run_two(const Device& home, const Device& away, bool enabled) {
    auto nets = std::make_unique<TwoNets>(home, away);
    GradScaler scaler({.init_scale = 128, .growth_interval = 1, .enabled = enabled});
    const auto batches = harness_batches();
    for (int i = 0; i < 4; ++i) {
        const auto& batch = batches[static_cast<std::size_t>(i)];
        const Tensor target = batch.target.copy_to(home);
        nets->first_optimizer.zero_grad();
        nets->second_optimizer.zero_grad();
        const Tensor o0 = nets->first(batch.input.copy_to(home));
        const Tensor o1 = to(nets->second(batch.input.copy_to(away)), home);
        const Tensor loss0 = mse_loss(add(mul(o0, 0.3), mul(o1, 0.7)), target);
        const Tensor loss1 = mse_loss(sub(mul(o0, 0.6), mul(o1, 0.4)), target);
        backward(scaler.scale(loss0), {.retain_graph = true});
        backward(scaler.scale(loss1));
        if (i == bad_batch) {
            spoil(nets->second);
            if (!enabled) nets->second_optimizer.zero_grad();
        }
        scaler.unscale_(nets->first_optimizer);
        scaler.step(nets->first_optimizer);
        if (enabled || i != bad_batch) scaler.step(nets->second_optimizer);
        scaler.update();
    }
    nets->scale = scaler.loss_scale();
    return nets;
}

// The two devices sum in different orders. Four steps of lr 1 on losses of order 1.
TEST(SeveralDevices, S19_TwoNetsOnTwoDevicesTwoOptimizersTwoLosses) {
    HALFTONE_NEEDS_CUDA();
    const auto plain = run_two(cpu, cpu, false);
    for (const auto& [home, away] : device_pairs()) {
        const auto scaled = run_two(home, away, true);
        EXPECT_EQ(scaled->first_optimizer.steps(), 4);
        EXPECT_EQ(scaled->second_optimizer.steps(), 3);
        EXPECT_EQ(scaled->scale, 128 * 8 * 0.5);
        for (std::size_t i = 0; i < plain->first.parameters.size(); ++i) {
            EXPECT_LE(distance(plain->first.parameters[i], scaled->first.parameters[i]), 1e-5);
            EXPECT_LE(distance(plain->second.parameters[i], scaled->second.parameters[i]), 1e-5);
        }
    }
}

/// A net whose layers are on two devices, and an optimizer for each of them
/// (loss-scaler.md#several-devices, 2.10).
struct SplitNet {
    SplitNet(const Device& home, const Device& away) {
        for (std::size_t i = 0; i < net.parameters.size(); ++i)
            net.parameters[i] = leaf_on(i < 2 ? home : away, net.parameters[i]);
        const auto& p = net.parameters;
        first_optimizer = std::make_unique<Sgd>(named({p[0], p[1]}), SgdOptions{.lr = 1});
        second_optimizer = std::make_unique<Sgd>(named({p[2], p[3]}), SgdOptions{.lr = 1});
    }
    Tensor loss(const HarnessBatch& batch) const {
        const auto& p = net.parameters;
        const Device home = p[0].device(), away = p[2].device();
        const Tensor hidden = linear(batch.input.copy_to(home), p[0], p[1]);
        return mse_loss(linear(to(hidden, away), p[2], p[3]), batch.target.copy_to(away));
    }

    Net net{1};
    std::unique_ptr<Sgd> first_optimizer, second_optimizer;
    double scale = 1;
};

/// In the bad batch only the gradients of the second device overflow.
std::unique_ptr<SplitNet> run_split(const Device& home, const Device& away, bool enabled) {
    auto split = std::make_unique<SplitNet>(home, away);
    GradScaler scaler({.init_scale = 128, .growth_interval = 1, .enabled = enabled});
    const auto batches = harness_batches();
    for (int i = 0; i < 4; ++i) {
        split->first_optimizer->zero_grad();
        split->second_optimizer->zero_grad();
        backward(scaler.scale(split->loss(batches[static_cast<std::size_t>(i)])));
        if (i == bad_batch) spoil(split->net);
        scaler.step(*split->first_optimizer);
        if (enabled || i != bad_batch) scaler.step(*split->second_optimizer);
        scaler.update();
    }
    split->scale = scaler.loss_scale();
    return split;
}

// The loss, and so the scale, is on the second device.
TEST(SeveralDevices, AModelOverTwoDevicesHasOneScalerAndAFlagForEachDevice) {
    HALFTONE_NEEDS_CUDA();
    const auto plain = run_split(cpu, cpu, false);
    for (const auto& [home, away] : device_pairs()) {
        const auto scaled = run_split(home, away, true);
        EXPECT_EQ(scaled->first_optimizer->steps(), 4);
        EXPECT_EQ(scaled->second_optimizer->steps(), 3);
        EXPECT_EQ(scaled->scale, 128 * 8 * 0.5);
        for (std::size_t i = 0; i < plain->net.parameters.size(); ++i)
            EXPECT_LE(distance(plain->net.parameters[i], scaled->net.parameters[i]), 1e-5) << i;
    }
}

/// A net trained by data parallel in threads (training-loops.md#data-parallel-in-one-process, 3.6):
/// each step copies it to all devices, and a thread for each of them computes the loss of its part
/// of the rows. One scaler scales the losses where they are; the gradients are added up on the
/// first device, which has the optimizer.
class ThreadedNet {
public:
    explicit ThreadedNet(std::vector<Device> devices)
        : devices_(std::move(devices)), net(net_on(devices_.front(), 1)) {}

    void step(const HarnessBatch& batch, bool is_bad) {
        optimizer.zero_grad();
        const AutocastState caller = autocast_state();
        std::vector<std::future<Tensor>> losses;
        std::vector<Net> replicas(devices_.size());
        for (std::size_t i = 0; i < devices_.size(); ++i) {
            losses.push_back(std::async(std::launch::async, [&, i] {
                const AutocastSnapshot state(caller);
                const DeviceScope scope(devices_[i]);
                return loss_of_part(replicas[i], batch, i);
            }));
        }
        for (auto& loss : losses) backward(scaler.scale(loss.get()));
        for (std::size_t p = 0; p < net.parameters.size(); ++p) add_gradients_of(replicas, p);
        if (is_bad) spoil(net);
        scaler.step(optimizer);
        scaler.update();
    }

private:
    std::vector<Device> devices_;

public:
    Net net;
    Sgd optimizer{named(net.parameters), SgdOptions{.lr = 1}};
    GradScaler scaler{{.init_scale = 128, .growth_interval = 1}};
    double largest_gradient = 0;

private:
    Tensor loss_of_part(Net& replica, const HarnessBatch& batch, std::size_t part) const {
        const auto parts = static_cast<std::int64_t>(devices_.size());
        const std::int64_t rows = net_width / parts;
        const auto own = [&](const Tensor& all) {
            const auto first = static_cast<std::int64_t>(part) * rows;
            return contiguous(narrow(all, 0, first, rows)).detach().copy_to(devices_[part]);
        };
        for (std::size_t i = 0; i < net.parameters.size(); ++i)
            replica.parameters[i] = leaf_on(devices_[part], net.parameters[i]);
        const Tensor loss = mse_loss(replica(own(batch.input)), own(batch.target));
        return mul(loss, 1.0 / static_cast<double>(parts));
    }

    void add_gradients_of(const std::vector<Net>& replicas, std::size_t parameter) {
        const GradMode off(false);
        Tensor total;
        for (const Net& replica : replicas) {
            const Tensor part = replica.parameters[parameter].grad().copy_to(devices_.front());
            total = total.defined() ? add(total, part) : part;
        }
        net.parameters[parameter].set_grad(total);
        for (const double value : total.values()) {
            largest_gradient = std::max(largest_gradient, std::abs(value) / scaler.loss_scale());
        }
    }
};

std::unique_ptr<ThreadedNet> run_threaded(const std::vector<Device>& devices) {
    auto out = std::make_unique<ThreadedNet>(devices);
    const auto batches = harness_batches();
    for (int i = 0; i < 4; ++i) out->step(batches[static_cast<std::size_t>(i)], i == bad_batch);
    return out;
}

/// `low`: in an f16 region, which the threads take over.
void expect_threads_are_one_device(bool low) {
    const AutocastRegion for_cpu(Device::Kind::cpu, low, DType::f16);
    const AutocastRegion for_cuda(Device::Kind::cuda, low, DType::f16);
    const auto on_cpu = for_cpu.enter();
    const auto on_cuda = for_cuda.enter();
    const auto one = run_threaded({cpu});
    // Three updates of lr 1. Each adds a gradient below 1 that is the last of four products, each
    // of which rounds to f16.
    ASSERT_LT(one->largest_gradient, 1);
    const double bound = low ? 3 * 4 * 0x1p-11 : 1e-5;
    for (const auto& [first, second] : device_pairs()) {
        const auto two = run_threaded({first, second});
        EXPECT_EQ(two->optimizer.steps(), 3);
        EXPECT_EQ(two->scaler.loss_scale(), 128 * 8 * 0.5);
        for (std::size_t i = 0; i < one->net.parameters.size(); ++i)
            EXPECT_LE(distance(one->net.parameters[i], two->net.parameters[i]), bound) << i;
    }
}

TEST(SeveralDevices, DataParallelByThreadsTakesTheStepsOfOneDevice) {
    HALFTONE_NEEDS_CUDA();
    expect_threads_are_one_device(/*low=*/false);
    expect_threads_are_one_device(/*low=*/true);
}

TEST(SeveralDevices, A20_CatOfCpuTensorsInACudaRegionIsAsWithoutAutocast) {
    const Tensor low = Tensor::full({2}, 1, DType::f16, cpu),
                 other = Tensor::full({2}, 1, DType::bf16, cpu);
    const AutocastRegion region(Device::Kind::cuda, true, DType::f16);
    const auto inside = region.enter();
    EXPECT_EQ(cat({low, other}, 0).dtype(), DType::f32);
    EXPECT_EQ(cat({low, low}, 0).dtype(), DType::f16);
    const Tensor wide = Tensor::full({2, 2}, 1, DType::f32, cpu);
    EXPECT_EQ(mm(wide, wide).dtype(), DType::f32);
}

TEST(SeveralDevices, A24_EveryReplicaOfADataParallelModelSeesAutocastOn) {
    std::vector<Device> devices{cpu, cpu};
    if (kernels::cuda::device_count() > 0) devices = {cuda, cpu};
    const AutocastRegion for_cpu(Device::Kind::cpu, true, DType::f16);
    // Without CUDA it is off, with a warning.
    const AutocastRegion for_cuda(Device::Kind::cuda, true, DType::f16);
    const auto on_cpu = for_cpu.enter();
    const auto on_cuda = for_cuda.enter();
    const AutocastState caller = autocast_state();
    std::vector<DType> types(devices.size());
    std::vector<char> enabled(devices.size());
    std::vector<std::thread> workers;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        workers.emplace_back([&, i] {
            const AutocastSnapshot state(caller);  // flag and type (autocast.md#interplay, 1.7)
            const DeviceScope scope(devices[i]);
            const Net replica = net_on(devices[i], 1);
            enabled[i] = autocast_enabled(devices[i].kind);
            types[i] = replica(Tensor::full({8, 8}, 1, DType::f32, devices[i])).dtype();
        });
    }
    for (auto& worker : workers) worker.join();
    for (std::size_t i = 0; i < devices.size(); ++i) {
        EXPECT_TRUE(enabled[i]) << to_string(devices[i]);
        EXPECT_EQ(types[i], DType::f16) << to_string(devices[i]);
    }
}

}  // namespace
}  // namespace engine
