#include "kernels/recurrent.h"
#include "kernels/device.h"
#include "kernels/device_array.h"
#include "kernels/recurrent_problem.h"
#include "kernels/targets.h"

namespace kernels::test {
namespace {

RecurrentResults run_recurrent(const RecurrentProblem& p, bool with_more) {
    RecurrentResults r(p);
    const ConstArray none{nullptr, p.dtype, 0};
    cpu::recurrent_forward(r.h_new, r.c_new, p.gx, p.gh, p.state, p.shape, {});
    cpu::recurrent_backward(r.dgx, r.dgh, r.dstate, p.dh, with_more ? p.dh_more.view() : none, p.dc,
                            p.gx, p.gh, p.state, p.shape, {});
    return r;
}

TEST(Recurrent, StepsAndGradientsMeetTheirFormulasForEveryCellAndType) {
    on_every_target([] {
        for_each_recurrent([](const RecurrentProblem& p) {
            for (const bool with_more : {true, false})
                expect_recurrent(p, run_recurrent(p, with_more), with_more);
        });
    });
}

TEST(Recurrent, AnAbsentGradientIsZero) {
    RecurrentProblem p(RecurrentCell::lstm, DType::f32, 2, 5);
    const RecurrentResults whole = run_recurrent(p, false);
    RecurrentResults r(p);
    const ConstArray none{nullptr, p.dtype, 0};
    cpu::recurrent_backward(r.dgx, r.dgh, r.dstate, none, p.dh, p.dc, p.gx, p.gh, p.state, p.shape,
                            {});
    EXPECT_EQ(r.dgx.bytes(), whole.dgx.bytes());
    cpu::recurrent_backward(r.dgx, r.dgh, r.dstate, none, none, none, p.gx, p.gh, p.state, p.shape,
                            {});
    EXPECT_EQ(r.dgx.values(), std::vector<double>(40, 0));
}

TEST(Recurrent, ReluLetsAGradientThroughANaNAndStopsItAtZero) {
    on_every_target([] {
        for (const DType dtype : floating) {
            RecurrentProblem p(RecurrentCell::rnn_relu, dtype, 1, 3);
            p.gx = Buffer(dtype, {static_cast<double>(nan), 0, 1});
            p.gh = Buffer(dtype, {0, 0, -1});
            p.dh = Buffer(dtype, {2, 3, 4});
            const RecurrentResults r = run_recurrent(p, false);
            EXPECT_TRUE(std::isnan(r.h_new.get(0)));
            EXPECT_EQ(r.dgx.values(), (std::vector<double>{2, 0, 0}));
        }
    });
}

TEST(Recurrent, StatesMayBeWrittenInPlaceAndThreadsChangeNothing) {
    const RecurrentProblem p(RecurrentCell::gru, DType::f16, 600, 64);
    const RecurrentResults expected = run_recurrent(p, true);
    with_threads([&](int) {
        Buffer h = p.state, carried = p.dh_more, dgx(p.dtype, p.gates), dgh(p.dtype, p.gates);
        cpu::recurrent_forward(h, {nullptr, p.dtype, 0}, p.gx, p.gh, h, p.shape, {});
        EXPECT_EQ(h.bytes(), expected.h_new.bytes());
        cpu::recurrent_backward(dgx, dgh, carried, p.dh, carried, {nullptr, p.dtype, 0}, p.gx, p.gh,
                                p.state, p.shape, {});
        EXPECT_EQ(carried.bytes(), expected.dstate.bytes());
        EXPECT_EQ(dgh.bytes(), expected.dgh.bytes());
    });
}

TEST(CudaRecurrent, StepsAndGradientsMeetTheirFormulasForEveryCellAndType) {
    HALFTONE_NEEDS_CUDA();
    for_each_recurrent([](const RecurrentProblem& p) {
        const DeviceBuffer gx(p.gx), gh(p.gh), state(p.state), dh(p.dh), more(p.dh_more), dc(p.dc);
        const DeviceBuffer h(p.dtype, p.states), c(p.dtype, p.states), dgx(p.dtype, p.gates),
            dgh(p.dtype, p.gates), dstate(p.dtype, p.states);
        const ConstArray none{nullptr, p.dtype, 0};
        cuda::recurrent_forward(h, c, gx, gh, state, p.shape, {});
        for (const bool with_more : {true, false}) {
            cuda::recurrent_backward(dgx, dgh, dstate, dh, with_more ? ConstArray(more) : none, dc,
                                     gx, gh, state, p.shape, {});
            RecurrentResults r(p);
            r.h_new = h.host();
            r.c_new = c.host();
            r.dgx = dgx.host();
            r.dgh = dgh.host();
            r.dstate = dstate.host();
            expect_recurrent(p, r, with_more);
        }
    });
}

TEST(CudaRecurrent, StatesMayBeWrittenInPlace) {
    HALFTONE_NEEDS_CUDA();
    const RecurrentProblem p(RecurrentCell::lstm, DType::bf16, 30, 40);
    const DeviceBuffer gx(p.gx), gh(p.gh), state(p.state), c(p.state), h(p.dtype, p.states),
        again(p.dtype, p.states), dgx(p.dtype, p.gates), dc(p.dc), carried(p.dc),
        dstate(p.dtype, p.states);
    const ConstArray none{nullptr, p.dtype, 0};
    const Array nothing{nullptr, p.dtype, 0};
    cuda::recurrent_forward(h, again, gx, gh, state, p.shape, {});
    cuda::recurrent_forward(h, c, gx, gh, c, p.shape, {});
    EXPECT_EQ(c.host().bytes(), again.host().bytes());
    cuda::recurrent_backward(dgx, nothing, dstate, none, none, dc, gx, gh, state, p.shape, {});
    cuda::recurrent_backward(dgx, nothing, carried, none, none, carried, gx, gh, state, p.shape,
                             {});
    EXPECT_EQ(carried.host().bytes(), dstate.host().bytes());
}

TEST(CudaRecurrent, StartsNothingForNoRows) {
    HALFTONE_NEEDS_CUDA();
    const DeviceBuffer none(DType::f32, 0);
    const RecurrentShape shape{RecurrentCell::gru, 0, 4};
    const auto before = cuda::call_counts().launches;
    cuda::recurrent_forward(none, none, none, none, none, shape, {});
    cuda::recurrent_backward(none, none, none, none, none, none, none, none, none, shape, {});
    EXPECT_EQ(cuda::call_counts().launches, before);
}

}  // namespace
}  // namespace kernels::test
