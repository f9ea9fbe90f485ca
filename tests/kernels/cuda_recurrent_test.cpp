#include "kernels/device.h"
#include "kernels/device_array.h"
#include "kernels/recurrent.h"
#include "kernels/recurrent_problem.h"

namespace kernels::test {
namespace {

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
