// The published models that this program can evaluate: their files, byte for byte.
#pragma once

#include "embed/model/model_folder.h"

#include <array>

namespace millrace::embed {

// A change of the arithmetic or of the tokens that moves vectors by more than the last bits raises
// the number behind the version of the package.
inline constexpr std::array<KnownFile, 9> kUseLiteFiles = {{
    {"group1-shard1of7", 4194304,
     "8775e61b6a4235ea230a62a0d81f1ff00f5213ce86baa5d89c29e611f8cd7412"},
    {"group1-shard2of7", 4194304,
     "deaf897e5eea5be6c71ea62876a092034560b6f6fbc99c87a768076385a465bd"},
    {"group1-shard3of7", 4194304,
     "50ee49b0daf620cf0cacda2f5fcc0da5929f4a3e520034844b6f8d9f3f4ec936"},
    {"group1-shard4of7", 4194304,
     "c1a50daae51e7c6e1e904f5d8d638a8658a0a1d310b9345cd7a368866304d596"},
    {"group1-shard5of7", 4194304,
     "410cde3029282e5f601c782985cbb5caa96977f6705dec981c98dd02e93fec6b"},
    {"group1-shard6of7", 4194304,
     "83ef116b2b98dc98e03547280ca0166142fbf6b4547bf1d9e6d13a8f518c088b"},
    {"group1-shard7of7", 2737832,
     "a29a5e08ee3afd839250b9187b89f1d3163749b5b1807bb175341a16c6012689"},
    {"model.json", 247026, "507d11df18b070f99e0ad650b9a4e6534a4cfb05040127e8ce579f00c8fa3b53"},
    {"vocab.json", 218327, "1ad860b9720c16cd48e666d664a556b2515c04f5a26a4b53c0372427913b1b8e"},
}};

inline constexpr std::array<KnownFile, 2> kMiniLmFiles = {{
    {"model.safetensors", 90868376,
     "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"},
    {"vocab.txt", 231508, "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"},
}};

}  // namespace millrace::embed
