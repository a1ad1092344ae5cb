import CarpoolSystem
import Testing

struct SlicedWorkTests {
    private final class Item {
        let number: Int
        init(_ number: Int) { self.number = number }
    }

    @Test("B2: work on a list does all in order, and lets go of each element when it is done")
    func forEach() {
        struct Weak { weak var item: Item? }
        var items = (0..<200).map(Item.init)
        let known = items.map { Weak(item: $0) }
        var done: [Int] = []
        var isComplete = false
        let work = Slices.forEach(of: items) {
            done.append($0.number)
        } completion: {
            isComplete = true
        }
        items = []
        #expect(work.runSlice())
        #expect(!done.isEmpty && done.count <= 64)
        #expect(known.enumerated().allSatisfy { ($1.item == nil) == ($0 < done.count) })
        while work.runSlice() {}
        #expect(done == Array(0..<200))
        #expect(isComplete)
    }
}
