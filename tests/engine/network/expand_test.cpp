#include "network/expand.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <limits>

#include "accepted_texts.h"
#include "checked.h"
#include "faulty_texts.h"
#include "network/grammar.h"

namespace engine::network {
namespace {

TEST(NetworkExpand, GivesPyTorchsNamesAndShapes) {
    int compared = 0;
    for (const AcceptedText& accepted : accepted_texts) {
        if (*accepted.names == '\0' && *accepted.shape == '\0') continue;
        NetworkData data = small_data();
        data.inputs[2].counts = {10};  // as many words as outputs, so that their weights can be shared
        const CheckedNetwork network = check_network(accepted.text, data);
        for (const NetworkFault& fault : network.faults) EXPECT_TRUE(fault.note) << accepted.subject << ": " << fault.text.str();
        const std::string names = *accepted.names != '\0' ? accepted.names : parameter_names(network);
        const std::string shape = *accepted.shape != '\0' ? accepted.shape : network.shape;
        EXPECT_EQ(parameter_names(network), names) << accepted.subject;
        EXPECT_EQ(network.shape, shape) << accepted.subject;
        ++compared;
    }
    EXPECT_EQ(compared, 10);
}

struct Meaning {
    const char* body;
    const char* names;
};

TEST(NetworkExpand, NumbersLayersByTheirPlace) {
    const Meaning meanings[] = {
        {"x = ReLU\nx = Abs\nLinear(outputs) from x", "0.weight 0.bias"},
        {"a: Linear(8) if false\nLinear(4)\ny = a from above\nLinear(outputs)", "0.weight 0.bias 1.weight 1.bias"},
        {"layers: repeat 2:\n  Linear(8)\n  ReLU\nLinear(outputs)",
         "layers.0.0.weight layers.0.0.bias layers.1.0.weight layers.1.0.bias 1.weight 1.bias"},
        {"layers: repeat 2: Linear(8)\nLinear(outputs)", "layers.0.weight layers.0.bias layers.1.weight layers.1.bias 1.weight 1.bias"},
        {"a:\n  b: Linear(8)\nc: Linear(outputs) from a.b", "a.b.weight a.b.bias c.weight c.bias"},
        {"p: Parameter([3, in.width])\nb: from in\n  q: Linear(8) from in\nLinear(outputs)", "p b.q.weight b.q.bias 1.weight 1.bias"},
        {"repeat 2 as i:\n  x = ReLU\n  y{i}: Linear(8) from x\nLinear(outputs) from y0",
         "y0.weight y0.bias y1.weight y1.bias 2.weight 2.bias"},
        {"a: Linear(8)\na.b: Linear(8)\nLinear(outputs) from a", "a.weight a.bias a.b.weight a.b.bias 2.weight 2.bias"}};
    for (const Meaning& meaning : meanings) {
        const CheckedNetwork network = check_body(meaning.body);
        EXPECT_TRUE(network.usable()) << fault_text(meaning.body);
        EXPECT_EQ(parameter_names(network), meaning.names) << meaning.body;
    }
}

TEST(NetworkExpand, AModuleThatRunsAgainHasItsWeightsOnce) {
    const CheckedNetwork network = check_body("enc:\n  Linear(20)\n  ReLU\nother = enc from enc\nAdd from enc, other\nLinear(outputs)");
    EXPECT_TRUE(network.usable());
    EXPECT_EQ(parameter_names(network), "enc.0.weight enc.0.bias 1.weight 1.bias");
    EXPECT_EQ(network.parameter_count(), 20 * 20 + 20 + 20 * 10 + 10);
    EXPECT_EQ(fault_text("enc:\n  Linear(8)\n  ReLU\nother = enc from enc\nLinear(outputs)"),
              "4:1: enc.0.weight is 8 x 20; here it would be 8 x 8.");
    EXPECT_EQ(fault_text("x = ReLU\nx"), "2:1: x is a value: write \"from x\".");
}

TEST(NetworkExpand, TiedWeightsAreOneParameter) {
    const char* text = "network(tokens) gives token scores:\n  wte: Embedding(8)\n  head: Linear(outputs, weight=wte.weight, bias=false)\n";
    NetworkData data = small_data();
    data.outputs = 1000;
    const CheckedNetwork network = check_network(text, data);
    EXPECT_TRUE(network.usable());
    EXPECT_EQ(parameter_names(network), "wte.weight");
    EXPECT_EQ(network.parameter_count(), 8000);
    EXPECT_FALSE(check_network(text, small_data()).usable());
}

TEST(NetworkExpand, NamesAreUniqueAndLabelsFit) {
    EXPECT_EQ(fault_text("fc: Linear(3)\nfc: Linear(3)"),
              "2:1: fc: line 2 has this name, and it would be fc.weight twice. To use the same weights again write \"x = fc from ...\".");
    EXPECT_THAT(fault_text("repeat 2: fc: Linear(10)"), testing::HasSubstr("this line makes fc.weight twice"));
    EXPECT_THAT(fault_text("x = Linear(3)"), testing::HasSubstr("has parameters"));
    EXPECT_THAT(fault_text("x: Add from in, in"), testing::HasSubstr("write \"x = Add\""));
    EXPECT_THAT(fault_text("Parameter([2])"), testing::HasSubstr("needs a name"));
    EXPECT_THAT(fault_text(std::string(101, 'a') + ": Linear(10)"), testing::HasSubstr("at most 100 characters"));
}

TEST(NetworkExpand, AFaultHidesNoOtherAndBringsNone) {
    const auto texts = fault_texts(check_body("a: Linear(widht)\nb: ReLU\nc: Linear(8) from b\nConv2D(3)\nd: Linear(8, kernel=3) from in\nLinear(outputs) from d"));
    ASSERT_EQ(texts.size(), 3u);
    EXPECT_THAT(texts[0], testing::StartsWith("1:11: widht: there is no such value"));
    EXPECT_EQ(texts[1], "4:1: Conv2D: there is no such layer. Did you mean Conv2d?");
    EXPECT_THAT(texts[2], testing::StartsWith("5:14: Linear has no argument kernel"));
}

TEST(NetworkExpand, ADropPathThatNoSumTakesIsNoted) {
    const char* note = "2:1: DropPath: no sum takes its result, so whole samples become 0. It belongs on a branch: Add from above, x.";
    EXPECT_THAT(fault_texts(check_body("Linear(20)\nDropPath(0.1)\nLinear(outputs)")), testing::ElementsAre(note));
    for (const char* right : {"Linear(20)\nDropPath(0.1)\nAdd from above, in\nLinear(outputs)", "Linear(20)\nDropPath(0.1)\nIdentity\nAdd from in, above\nLinear(outputs)",
                              "Linear(20)\nDropPath(0)\nLinear(outputs)"})
        EXPECT_THAT(fault_texts(check_body(right)), testing::IsEmpty()) << right;
}

TEST(NetworkExpand, AFaultOfABlockIsReportedOnce) {
    const auto network = check_network("block B(n):\n  Linear(n)\n  MaxPool2d(2)\nnetwork(features):\n  repeat 3: B(20)\n  Linear(outputs)\n", small_data());
    EXPECT_EQ(network.faults.size(), 1u);
}

TEST(NetworkExpand, ABlockSeesItsArgumentsAndThoseAbove) {
    EXPECT_TRUE(check_network("option w = 4\nblock A(n, m = n * 2):\n  Linear(m + w)\nblock B():\n  A(3)\nnetwork(features):\n  B\n  Linear(outputs)\n", small_data()).usable());
    const auto below = check_network("block B():\n  A(3)\nblock A(n):\n  Linear(n)\nnetwork(features):\n  B\n  Linear(outputs)\n", small_data());
    ASSERT_FALSE(below.faults.empty());
    EXPECT_EQ(below.faults[0].text.str(), "A: a block sees those above it. Move A above this one.");
    const auto hidden = check_network("block B():\n  Linear(n)\nnetwork(features):\n  let n = 3\n  B\n  Linear(outputs)\n", small_data());
    EXPECT_FALSE(hidden.usable());
}

TEST(NetworkExpand, OptionsCanBeSet) {
    const char* text = "option w = 4 in 1..64\noption act = relu of relu, tanh\nnetwork(features):\n  a: Linear(w)\n  Activation(act)\n  Linear(outputs) if act == tanh\n  Linear(outputs) if act != tanh\n";
    NetworkData data = small_data();
    data.options = {{"w", std::int64_t{7}}, {"act", std::string("tanh")}};
    const CheckedNetwork network = check_network(text, data);
    EXPECT_TRUE(network.usable());
    EXPECT_EQ(network.parameters[0].sizes, (std::vector<std::int64_t>{7, 20}));
    data.options = {{"w", std::int64_t{65}}};
    EXPECT_EQ(check_network(text, data).faults.size(), 1u);
}

TEST(NetworkExpand, OptionsStayInTheirRange) {
    const char* text = "option a = 3\noption b = [1]\nnetwork(features):\n  let c = a % -1\n  let d = b[0] // -1\n  Linear(outputs)\n";
    NetworkData data = small_data();
    constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();
    data.options = {{"a", lowest}};
    ASSERT_EQ(check_network(text, data).faults.size(), 1u);
    EXPECT_EQ(check_network(text, data).faults[0].text.str(), "The option a is set to -9223372036854775808, which is out of range.");
    data.options = {{"b", std::vector<std::int64_t>{lowest}}};
    EXPECT_EQ(check_network(text, data).faults.size(), 1u);
    data.options = {{"a", (std::int64_t{1} << 62) - 1}};
    EXPECT_TRUE(check_network(text, data).usable());
}

TEST(NetworkExpand, AModuleRunsAgainWithAsManyValues) {
    const auto block = check_network("block S() of a, b:\n  Add from a, b\nnetwork(features):\n  x: Linear(20)\n  s: S from x, in\n  y = s from x\n  Linear(outputs)\n", small_data());
    ASSERT_EQ(block.faults.size(), 1u);
    EXPECT_EQ(block.faults[0].text.str(), "s takes 2 values, not 1.");
    EXPECT_EQ(fault_text("c:\n  Linear(20)\nx = ReLU\ny = c from x, in\nLinear(outputs)"), "4:5: c takes 1 value, not 2.");
}

/// How many texts end is counted by their faults; a test that needs minutes shows that they do not.
TEST(NetworkExpand, TextsEndSoon) {
    std::string values = "x";
    for (int i = 1; i < 9000; ++i) values += ", x";
    EXPECT_THAT(fault_text("x = ReLU\nrepeat 100:\n  y = Concat from " + values), testing::HasSubstr("more than 200000 lines"));
    EXPECT_THAT(fault_text("e: Embedding(8) from tokens\nrepeat 1000: LSTM(8, num_layers=1000, bidirectional=true)"),
                testing::HasSubstr("more than 50000 tensors of weights"));
    EXPECT_THAT(fault_text("e: Embedding(8) from tokens\nl: LSTM(8, num_layers=1000)\nrepeat 1000: x = l from l"),
                testing::HasSubstr("more than 50000 tensors of weights"));
    std::string zeros = "0";
    for (int i = 1; i < 2000; ++i) zeros += ",0";
    EXPECT_THAT(fault_text("Permute(" + zeros + ")"), testing::HasSubstr("A list of more than 1000 items."));
    NetworkData wide = small_data();
    wide.inputs = {{"indices", {std::int64_t{1} << 40}, {10}}};
    const auto tables = check_network("network(indices):\n  EmbeddingTables(1)\n  Flatten\n  Linear(outputs)\n", wide);
    ASSERT_FALSE(tables.faults.empty());
    EXPECT_THAT(tables.faults[0].text.str(), testing::HasSubstr("at most 10000 fit here"));
    // A line that has a fault in each of its runs looks for a name like its own in the first.
    std::string lets, blocks;
    for (int i = 0; i < 3000; ++i) lets += "let somewhat" + std::to_string(i) + " = 1\n";
    EXPECT_THAT(fault_text(lets + "repeat 1000:\n  repeat 90:\n    let b = somewhot\nLinear(outputs)"), testing::HasSubstr("Did you mean somewhat"));
    for (int i = 0; i < 3000; ++i) blocks += "block Bbbbbbbbbbbbbbb" + std::to_string(i) + "():\n  from in\n";
    EXPECT_TRUE(check_network(blocks + "network(features):\n  repeat 1000:\n    repeat 40: Bbbbbbbbbbbbbbb2999\n  Linear(outputs)\n", small_data()).usable());
}

TEST(NetworkExpand, WorkIsBounded) {
    EXPECT_THAT(fault_text("repeat 1001: ReLU"), testing::HasSubstr("repeat 1001: at most 1000 times."));
    EXPECT_THAT(fault_text("repeat 1000:\n  repeat 1000:\n    let a = 1"), testing::HasSubstr("more than 200000 lines"));
    EXPECT_THAT(fault_text("repeat 50:\n  repeat 50:\n    repeat 9: ReLU"), testing::HasSubstr("beyond 20000 layers here (50 x 50 x 9)."));
    std::string doubling = "block B0():\n  ReLU if false\n";
    for (int i = 1; i < 40; ++i) {
        const std::string below = "  B" + std::to_string(i - 1) + "\n";
        doubling += "block B" + std::to_string(i) + "():\n" + below + below;
    }
    const auto network = check_network(doubling + "network(features):\n  B39\n", small_data());
    ASSERT_FALSE(network.faults.empty());
    EXPECT_FALSE(network.usable());
}

TEST(NetworkExpand, ARowSaysWhatIsAroundItAndWhatItTakes) {
    const CheckedNetwork network = check_network("block Pair(n):\n"                  // 1
                                                 "  Linear(n)\n"                     // 2
                                                 "  Add from in, above\n"            // 3
                                                 "network(features):\n"              // 4
                                                 "  repeat 2:\n"                     // 5
                                                 "    Pair(8)\n"                     // 6
                                                 "  side: from above\n"              // 7
                                                 "    Linear(8)\n"                   // 8
                                                 "  y = side from above\n"           // 9
                                                 "  Linear(outputs) from y\n",       // 10
                                                 {{{"features", {8}, {}}}, 3, {}});
    ASSERT_TRUE(network.usable()) << network.faults.front().text.str();
    ASSERT_EQ(network.rows.size(), 7u);
    using Heads = std::vector<NetworkHead>;
    EXPECT_EQ(network.rows[0].heads, (Heads{{5, 0, 5}, {1, 0, 6}}));
    EXPECT_EQ(network.rows[3].heads, (Heads{{5, 1, 5}, {1, 1, 6}}));
    EXPECT_EQ(network.rows[4].heads, (Heads{{7, 0, 7}}));
    EXPECT_EQ(network.rows[5].heads, (Heads{{7, 1, 9}}));
    EXPECT_TRUE(network.rows[6].heads.empty());
    using Inputs = std::vector<int>;
    EXPECT_EQ(network.rows[0].inputs, (Inputs{-1}));
    EXPECT_EQ(network.rows[1].inputs, (Inputs{-1, 0}));
    EXPECT_EQ(network.rows[3].inputs, (Inputs{1, 2}));
    EXPECT_EQ(network.rows[6].inputs, (Inputs{5}));
}

TEST(NetworkExpand, InitialWeightsAreThoseOfTheLayerOrOfALine) {
    const auto initial = [](const std::string& text) {
        const CheckedNetwork network = check_network(text, small_data());
        for (const auto& fault : fault_texts(network)) ADD_FAILURE() << text << fault;
        std::string all;
        for (const NetworkParameter& parameter : network.parameters) all += (all.empty() ? "" : " ") + parameter.initial.substr(0, 8);
        return all;
    };
    const std::string recurrent = "network(image):\n  Flatten(2)\n  LSTM(8", end = ")\n  Select(1, 0)\n  Linear(outputs, init=ones, bias_init=ones)\n";
    EXPECT_EQ(initial(recurrent + ", init=zeros, bias_init=ones" + end), "zeros zeros ones ones ones ones");
    EXPECT_EQ(initial("init LSTM.weight_hh = orthogonal\ninit LSTM.bias = zeros\n" + recurrent + end), "uniform( orthogon zeros zeros ones ones");
    EXPECT_EQ(initial("init LSTM.weight = zeros\ninit LSTM.weight_hh = ones\n" + recurrent + ", bias=false" + end), "zeros ones ones ones");
    EXPECT_EQ(initial("init EmbeddingTables.weight = zeros\nnetwork(indices):\n  EmbeddingTables(2)\n  Slice(1, 0, 2)\n  Flatten\n  Linear(outputs, init=ones, bias_init=ones)\n").substr(0, 12), "zeros zeros ");
}

TEST(NetworkExpand, AnInitLineSetsAParameterThatExists) {
    const auto only = [](const std::string& lines) {
        const CheckedNetwork network = check_network(lines + "network(features):\n  Linear(outputs)\n", small_data());
        EXPECT_EQ(network.faults.size(), 1u) << lines;
        return network.faults.empty() ? std::string() : (network.faults[0].note ? "note: " : "") + network.faults[0].text.str();
    };
    EXPECT_EQ(only("init LSTM.nonsense = zeros\n"), "LSTM has no parameter nonsense. It has: weight, bias, weight_ih, weight_hh, bias_ih, bias_hh.");
    EXPECT_EQ(only("init ReLU.weight = zeros\n"), "ReLU has no parameters.");
    EXPECT_EQ(only("init Linear.bias = zeros\ninit Linear.bias = ones\n"), "Linear.bias: line 1 sets its initial values already.");
    EXPECT_EQ(only("init Conv2d.weight = zeros\n"), "note: Conv2d.weight: no layer of this network has it.");
    EXPECT_EQ(only("init Conv2D.weight = zeros\n"), "Conv2D: there is no such layer. Did you mean Conv2d?");
    EXPECT_EQ(fault_text("Linear(outputs, bias=false, bias_init=zeros)"), "1:1: Linear: this layer has nothing that bias_init could set.");
}

TEST(NetworkExpand, ParametersOfTheNetworkAreCounted) {
    // Four times 2^62 - 2^32 + 1, each of them below 2^62.
    EXPECT_EQ(fault_text("Linear(2147483647)\nLinear(2147483647)\nLinear(outputs)"), "2:1: Linear: with its weights the network has 2^62 numbers or more.");
}

TEST(NetworkExpand, NamesComeOnce) {
    const auto first = [](const std::string& text) {
        const CheckedNetwork network = check_network(text, small_data());
        return network.faults.empty() ? std::string() : (network.faults[0].note ? "note: " : "") + network.faults[0].text.str();
    };
    const std::string end = "network(features):\n  Linear(outputs)\n";
    EXPECT_EQ(first("block A(x, x):\n  ReLU\n" + end), "A: x comes twice.");
    EXPECT_EQ(first("block A() of x, x:\n  Add from x, x\n" + end), "A: x comes twice.");
    EXPECT_EQ(first("network(features, features):\n  Linear(outputs)\n"), "features: this input comes twice.");
    EXPECT_EQ(first("network(features or features):\n  Linear(outputs)\n"), "features: this input comes twice.");
    EXPECT_EQ(first("block Linear(n):\n  ReLU\n" + end), "note: Linear: this block hides the layer of its name.");
    EXPECT_EQ(first("network(features):\n  repeat [a, a] in [[1, 2]]: ReLU\n  Linear(outputs)\n"), "repeat: a comes twice.");
    EXPECT_EQ(first("network(imgae):\n  Linear(outputs)\n"), "imgae: there is no such input. Did you mean image?");
    EXPECT_EQ(first("network(foo):\n  Linear(outputs)\n"), "foo: there is no such input. Use image, features, tokens, indices.");
}

TEST(NetworkExpand, EachKindOfFaultHasItsPlaceAndAChange) {
    std::map<int, int> counted;
    for (const FaultyText& faulty : faulty_texts) {
        const CheckedNetwork network = check_body(faulty.body);
        ++counted[faulty.kind];
        EXPECT_FALSE(network.usable()) << faulty.body;
        EXPECT_EQ(fault_text(faulty.body), faulty.fault);
        ASSERT_FALSE(network.faults.empty());
        EXPECT_EQ(network.faults[0].replacement.value_or(""), faulty.replacement) << faulty.body;
    }
    EXPECT_EQ(counted.size(), 10u);
    for (const auto& kind : counted) EXPECT_GE(kind.second, 6) << kind.first;
}

/// Where the words, numbers and signs of a text begin, and the place behind the last of them.
std::vector<std::size_t> token_places(const std::string& text) {
    const auto is_of_word = [&](std::size_t i) { return std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_' || text[i] == '.'; };
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < text.size(); ++i)
        if (text[i] != ' ' && text[i] != '\n' && (i == 0 || !is_of_word(i) || !is_of_word(i - 1))) places.push_back(i);
    places.push_back(text.size());
    return places;
}

TEST(NetworkExpand, ATokenThatIsMissingIsAFaultOfItsLine) {
    const std::string text = network_template("resnet18");
    const NetworkData data = usual_network_data(text);
    const std::vector<std::size_t> places = token_places(text);
    int elsewhere = 0;
    for (std::size_t i = 0; i + 1 < places.size(); ++i) {
        std::string without = text;
        const std::size_t end = std::min(text.find_first_of(" \n", places[i]), places[i + 1]);
        without.erase(places[i], end - places[i]);
        const CheckedNetwork network = check_network(without, data);
        if (network.usable()) continue;
        int first = std::numeric_limits<int>::max();
        for (const NetworkFault& fault : network.faults)
            if (!fault.note) first = std::min(first, fault.place.line);
        const int line = 1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(places[i]), '\n'));
        EXPECT_GE(first, line) << without.substr(places[i] - std::min<std::size_t>(places[i], 20), 40);
        elsewhere += first > line ? 1 : 0;
    }
    EXPECT_GT(places.size(), 300u);
    // A layer fewer and a default that is no flag are seen where the value is used.
    EXPECT_LE(elsewhere, 4);
}

TEST(NetworkExpand, LinesThatDoNotRunAreReadToo) {
    EXPECT_EQ(fault_text("repeat 0:\n  Conv2D(8, 3)\nLinear(outputs)"), "2:3: Conv2D: there is no such layer. Did you mean Conv2d?");
    EXPECT_EQ(fault_text("Linear(8, baias=false) if false\nLinear(outputs)"), "1:11: Linear has no argument baias. Did you mean bias?");
    const auto unused = check_network("block A():\n  Dense(8)\nnetwork(features):\n  Linear(outputs)\n", small_data());
    ASSERT_EQ(unused.faults.size(), 1u);
    EXPECT_EQ(unused.faults[0].place, (TextPlace{2, 3, 5}));
    EXPECT_EQ(unused.faults[0].replacement, "Linear");
}

TEST(NetworkExpand, AVariableHidesAWordWithANote) {
    const CheckedNetwork network = check_body("let zeros = 1\na: Linear(8)\nb: Linear(outputs, init=ones)\nc = Abs");
    EXPECT_TRUE(network.usable());
    const CheckedNetwork hidden = check_body("let relu = \"tanh\"\nActivation(relu)\nLinear(outputs)");
    ASSERT_EQ(hidden.faults.size(), 1u);
    EXPECT_TRUE(hidden.faults[0].note);
    EXPECT_TRUE(hidden.usable());
    const CheckedNetwork often = check_body("let relu = \"tanh\"\nrepeat 900: Activation(relu)\nLinear(outputs)");
    EXPECT_EQ(often.faults.size(), 1u);
}

}  // namespace
}  // namespace engine::network
