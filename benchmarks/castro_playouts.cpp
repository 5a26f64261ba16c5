// Random games on the board of Castro, from the empty one: how many in some seconds?
//
//     castro_playouts SIZE SECONDS SEED
//
// prints games, seconds, games that White won and the mean length. Built against Castro's own
// headers, which are not here (peers.md). The order of moves is shuffled beforehand, as Castro does.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "board.h"
#include "xorshift.h"

int main(int count, char **words)
{
    if (count != 4) return 2;
    const Board empty(atoi(words[1]));
    const double limit = atof(words[2]);
    XORShift_uint64 random(0x9E3779B97F4A7C15ull * (atoi(words[3]) + 1));
    std::vector<Move> moves;
    for (Board::MoveIterator move = empty.moveit(); !move.done(); ++move) moves.push_back(*move);
    long games = 0, white = 0, stones = 0;
    const auto began = std::chrono::steady_clock::now();
    double seconds = 0;
    while (seconds < limit) {
        for (int game = 0; game < 256; ++game, ++games) {
            Board board(empty);
            for (size_t i = moves.size(); i > 1; --i)
                std::swap(moves[i - 1], moves[((random() >> 32) * i) >> 32]);
            for (size_t i = 0; board.won() < 0; ++i) board.move(moves[i]);
            white += board.won() == 1;
            stones += board.num_moves();
        }
        seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    }
    printf("%ld %.6f %ld %.4f\n", games, seconds, white, (double)stones / games);
    return 0;
}
