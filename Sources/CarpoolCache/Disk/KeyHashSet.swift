/// A set of hashes of 64 bits in little more than 8 bytes for each: 256 sorted lists by the first byte.
struct KeyHashSet: Sendable {
    private var lists: [[UInt64]] = []
    /// The number of hashes.
    private(set) var count = 0

    init() {}

    /// Makes a set of some hashes, in any order.
    init(_ hashes: [UInt64]) {
        var counts = [Int](repeating: 0, count: 256)
        for hash in hashes { counts[KeyHashSet.list(of: hash)] += 1 }
        lists = counts.map { count in
            var list: [UInt64] = []
            list.reserveCapacity(count)
            return list
        }
        for hash in hashes { lists[KeyHashSet.list(of: hash)].append(hash) }
        for index in lists.indices {
            lists[index].sort()
            let list = lists[index]
            // Variants of one key have the same hash.
            if zip(list, list.dropFirst()).contains(where: { $0 == $1 }) {
                var last: UInt64?
                lists[index] = list.filter { hash in
                    defer { last = hash }
                    return hash != last
                }
            }
            count += lists[index].count
        }
    }

    func contains(_ hash: UInt64) -> Bool {
        guard !lists.isEmpty else { return false }
        let list = lists[KeyHashSet.list(of: hash)]
        let place = KeyHashSet.place(of: hash, in: list)
        return place < list.count && list[place] == hash
    }

    mutating func insert(_ hash: UInt64) {
        if lists.isEmpty { lists = Array(repeating: [], count: 256) }
        let index = KeyHashSet.list(of: hash)
        let place = KeyHashSet.place(of: hash, in: lists[index])
        guard place == lists[index].count || lists[index][place] != hash else { return }
        // Arrays double by themselves, which wastes up to half of them.
        if lists[index].count == lists[index].capacity {
            lists[index].reserveCapacity(lists[index].count + max(4, lists[index].count / 8))
        }
        lists[index].insert(hash, at: place)
        count += 1
    }

    mutating func remove(_ hash: UInt64) {
        guard !lists.isEmpty else { return }
        let index = KeyHashSet.list(of: hash)
        let place = KeyHashSet.place(of: hash, in: lists[index])
        guard place < lists[index].count, lists[index][place] == hash else { return }
        lists[index].remove(at: place)
        count -= 1
    }

    /// The bytes of memory that the lists take.
    var memoryBytes: Int { lists.reduce(0) { $0 + 32 + $1.capacity * 8 + 8 } }

    private static func list(of hash: UInt64) -> Int { Int(hash >> 56) }

    /// The place of the first hash that is not less.
    private static func place(of hash: UInt64, in list: [UInt64]) -> Int {
        var (low, high) = (0, list.count)
        while low < high {
            let middle = (low + high) / 2
            if list[middle] < hash { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
