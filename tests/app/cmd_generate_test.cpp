#include <gmock/gmock.h>

#include <fstream>

#include "kept_runs.h"

namespace app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Generate : public KeptRuns {
protected:
    /// A small language model of a text in which each word has one successor.
    void train_on_text(const std::vector<std::string>& model = {"model.kind=rnn-lm", "model.options.layers=1", "model.options.hidden=32",
                                                               "model.options.embedding=32", "model.options.dropout=0"}) {
        {
            std::ofstream text(home_ / "text.txt");
            for (int i = 0; i < 600; ++i) text << "one two three four ";
        }
        std::vector<std::string> args = {"train"};
        std::vector<std::string> settings{
            "dataset.kind=text-words", "dataset.path=" + (home_ / "text.txt").string(),
            "precision.preset=fp32", "optimizer.kind=adam", "optimizer.lr=0.01", "batch_size=8",
            "bptt=12", "epochs=1000", "max_steps=60", "device=cpu", "threads=1"};
        settings.insert(settings.end(), model.begin(), model.end());
        for (const std::string& setting : settings) args.insert(args.end(), {"--set", setting});
        lines(args);
    }
};

TEST_F(Generate, GoesOnWithThePrompt) {
    train_on_text();
    EXPECT_THAT(
        lines({"generate", "1", "--prompt", "one two", "--temperature", "0", "--length", "6"}),
        ElementsAre("one two three four one two three four"));
    EXPECT_THAT(lines({"generate", "1", "--prompt", "three", "--top-k", "1", "--length", "2"}),
                ElementsAre("three four one"));
    Program unknown({"generate", "1", "--prompt", "Two 7 three", "--length", "1"},
                    {home_.str(), {}});
    unknown.finish();
    EXPECT_EQ(unknown.exit_code(), 0);
    EXPECT_THAT(unknown.errors(), HasSubstr("\"Two\", \"7\""));
}

/// Forty words are more than a window of 12, and more than the 16 places of Positions.
TEST_F(Generate, GoesOnWithANetworkOfTheUsersOwnBeyondItsWindows) {
    const char* const bodies[] = {
        "  rnn: GRU(32, carry=true)\n",
        "  pos: Positions(16)\n  x = Add from emb, pos\n  heads: MultiheadAttention(2, causal=true)\n  Add from x, heads\n",
        "  Unflatten(2, [2, 16])\n  Rotary\n  q = Flatten(2)\n  Attention(2, causal=true) from q, q, emb\n  Add from above, emb\n"};
    std::string expected = "one two";
    for (int i = 0; i < 10; ++i) expected += " three four one two";
    int run = 0;
    for (const char* body : bodies) {
        std::ofstream(home_ / "a.network") << "network(tokens) gives token scores:\n  emb: Embedding(32)\n" << body << "  head: Linear(outputs)\n";
        train_on_text({"model.path=" + (home_ / "a.network").string()});
        EXPECT_THAT(lines({"generate", std::to_string(++run), "--prompt", "one two", "--temperature", "0", "--length", "40"}), ElementsAre(expected)) << body;
    }
}

TEST_F(Generate, DrawsTheSameWithTheSameSeed) {
    train_on_text();
    const auto drawn = [&](const char* seed) {
        return object({"generate", "1", "--prompt", "one", "--temperature", "5", "--length", "40",
                       "--seed", seed, "--json"});
    };
    const auto first = drawn("1");
    EXPECT_EQ(first.at("step"), 60);
    EXPECT_THAT(first.at("text").get<std::string>(), testing::StartsWith("one "));
    EXPECT_EQ(drawn("1"), first);
    EXPECT_NE(drawn("2"), first);
}

TEST_F(Generate, RefusesWhatItCannotDo) {
    train_on_text();
    train({"--set", "max_steps=3"});
    expect_refused({"generate", "1", "--temperature", "hot"}, 2,
                   "--temperature: hot: use a number");
    expect_refused({"generate", "2", "--json"}, 2, "does not take text to continue");
    expect_refused({"generate", "7"}, 2, "7: neither a run of the history nor a run's folder");
}

}  // namespace
}  // namespace app
