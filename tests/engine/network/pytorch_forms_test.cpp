#include "network/pytorch_forms.h"

#include <gtest/gtest.h>

namespace engine::network {
namespace {

/// tests/peer/network_pytorch.py runs each of them.
TEST(PytorchForms, EachKindHasOne) {
    for (const LayerKind& kind : layer_kinds()) EXPECT_TRUE(has_pytorch_form(kind)) << kind.name;
}

TEST(PytorchForms, AKindWithoutOneIsRefusedByName) {
    LayerKind kind;
    kind.name = "Routing";
    EXPECT_FALSE(has_pytorch_form(kind));
    GraphNode node;
    node.kind = &kind;
    node.place.line = 7;
    try {
        pytorch_form({}, node);
        FAIL();
    } catch (const std::exception& error) {
        EXPECT_STREQ(error.what(), "Line 7: Routing cannot be written for PyTorch yet.");
    }
}

}  // namespace
}  // namespace engine::network
