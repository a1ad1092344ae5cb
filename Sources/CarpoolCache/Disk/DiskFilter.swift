/// Which entries of a disk store are meant.
enum DiskFilter: Sendable, Equatable {
    case all
    /// Those with these numbers.
    case ids([Int64])
    /// All variants under a key.
    case key(DiskKey)
    /// Those with this URL, in every partition.
    case url(String)
    /// Those whose URL begins so.
    case prefix(String)
    /// Those of an origin, written `scheme://host[:port]`.
    case origin(String)
    /// Those received before a time: milliseconds since 1970.
    case receivedBefore(Int64)

    /// The condition of SQL, with `?1` for ``value``.
    var condition: String {
        switch self {
        case .all, .ids: "?1 IS NULL"
        case .key: "key = ?1"
        case .url: "url = ?1"
        case .prefix, .origin: "substr(url, 1, length(?1)) = ?1"
        case .receivedBefore: "received < ?1"
        }
    }

    /// The value that the condition compares with.
    var value: Statement.Value {
        switch self {
        case .all, .ids: .null
        case .key(let key): .bytes(key.bytes)
        case .url(let text), .prefix(let text): .bytes(Array(text.utf8))
        case .origin(let text): .bytes(Array(text.utf8) + (text.utf8.last == 0x2F ? [] : [0x2F]))
        case .receivedBefore(let time): .integer(time)
        }
    }
}

/// A removal, or a mark that entries must not be used without validation.
struct DiskRemoval: Sendable, Equatable {
    let filter: DiskFilter
    /// Whether the entries stay, marked.
    let isSoft: Bool
}
