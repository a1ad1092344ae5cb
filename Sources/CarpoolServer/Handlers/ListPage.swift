internal import CarpoolJSON
internal import CarpoolRPC

/// One page of a list: as many as were asked for and fit the client's line, but at least one.
struct ListPage {
    let limit: Int
    let room: Int

    /// The page that a call asks for.
    init(_ call: Call) {
        limit = call.params["limit"]?.int ?? 100
        room = call.client.recordBytes
    }

    /// The place in an order that `next` names; 0 without it.
    static func place(of call: Call, radix: Int) throws(RPCError) -> Int {
        guard let next = call.params["next"]?.string else { return 0 }
        guard let place = Int(next, radix: radix), place >= 0 else {
            throw .invalidParams(
                path: "params.next", message: "not the `next` of a page: \(next.debugDescription)",
                expected: "`next` of the last page, as it was")
        }
        return place
    }

    /// Writes the members of a result: the list, and `next`, the name of the last that was written if there are more.
    func write<Item>(
        _ member: StaticString, _ items: some Sequence<Item>, to writer: inout JSONWriter, name: (Item) -> String,
        _ body: (Item, inout JSONWriter) -> Void
    ) {
        var (last, next): (String?, String?)
        var count = 0
        writer.key(member)
        writer.beginArray()
        let start = writer.count
        for item in items {
            let before = writer.count
            if count < limit { body(item, &writer) }
            guard count < limit, last == nil || writer.count - start <= room else {
                writer.rewind(to: before)
                next = last
                break
            }
            count += 1
            last = name(item)
        }
        writer.endArray()
        writer.key("next")
        if let next { writer.string(next) } else { writer.null() }
    }
}
