#include "network/network_repr.h"

#include <gtest/gtest.h>

#include "engine/network/network.h"
#include "text/format.h"

namespace ui {
namespace {

const QString printed = uR"(Net(
  (conv1): Conv2d(3, 64, kernel_size=(7, 7), stride=(2, 2), padding=(3, 3), bias=False)
  (bn1): BatchNorm2d(64, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
  (relu): ReLU(inplace=True)
  (layers): Sequential(
    (0): Conv2d(64, 32, kernel_size=(3, 1), stride=(1, 1), padding=same, groups=2)
    (1): GroupNorm(8, 32, eps=1e-05, affine=True)
    (2): LeakyReLU(negative_slope=0.1)
  )
  (pool): AdaptiveAvgPool2d(output_size=(1, 1))
  (flatten): Flatten(start_dim=1, end_dim=-1)
  (fcs): ModuleList(
    (0-2): 3 x Linear(in_features=32, out_features=32, bias=True)
  )
  (drop): Dropout(p=0.5, inplace=False)
  (fc): Linear(in_features=32, out_features=10, bias=False)
))"_s;

TEST(NetworkRepr, APrintedModelBecomesANetworkThatCanBeUsed) {
    const QString text = fromModuleRepr(printed, 0);
    EXPECT_EQ(text, uR"(network(image):
  conv1: Conv2d(64, 7, stride=2, padding=3, bias=false)
  bn1: BatchNorm2d
  relu: ReLU
  layers:
    Conv2d(32, [3, 1], padding=same, groups=2)
    GroupNorm(8)
    LeakyReLU(0.1)
  pool: AdaptiveAvgPool2d(1)
  flatten: Flatten(1)
  fcs:
    repeat 3:
      Linear(32)
  drop: Dropout(0.5)
  fc: Linear(10, bias=false))"_s);
    const auto network = engine::check_network(text.toStdString(), {{{"image", {3, 64, 64}, {}}}, 10, {}});
    EXPECT_TRUE(network.usable()) << (network.faults.empty() ? "" : network.faults.front().text.str());
}

TEST(NetworkRepr, LinesWithinATextKeepItsIndentation) {
    const QString lines = u"(0): Linear(in_features=4, out_features=8, bias=True)\n(1): Tanh()"_s;
    EXPECT_EQ(fromModuleRepr(lines, 4), u"    Linear(8)\n    Tanh"_s);
}

TEST(NetworkRepr, WhatTheNotationDoesNotHaveStays) {
    EXPECT_EQ(fromModuleRepr(u"  (bn): BatchNorm2d(8, affine=False, track_running_stats=False)"_s, 2),
              u"  bn: BatchNorm2d(affine=false, track_running_stats=false)"_s);
    EXPECT_EQ(fromModuleRepr(u"  (own): MyLayer(3, mode='x')"_s, 2), u"  own: MyLayer(3, mode=x)"_s);
}

TEST(NetworkRepr, KnowsAPrintFromAText) {
    EXPECT_TRUE(isModuleRepr(printed));
    EXPECT_FALSE(isModuleRepr(QString::fromStdString(engine::network_template("resnet18"))));
    EXPECT_FALSE(isModuleRepr(u"conv1: Conv2d(64, 3)"_s));
}

}  // namespace
}  // namespace ui
