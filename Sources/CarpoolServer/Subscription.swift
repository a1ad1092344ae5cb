/// What a subscription wants to hear, decided without the event itself being built.
struct EventFilter {
    /// Whose requests.
    enum Scope: Equatable {
        /// Those of the subscriber's own client.
        case mine(ClientIdentity)
        /// Those of one session.
        case session(String)
        /// All.
        case all
    }

    /// Patterns of types: the name, or its beginning and a star.
    let patterns: [String]
    let scope: Scope

    /// Whether the type is wanted.
    func matches(type: StaticString) -> Bool {
        let name = UnsafeRawBufferPointer(start: type.utf8Start, count: type.utf8CodeUnitCount)
        return patterns.contains { EventFilter.matches(name[...], $0.utf8[...]) }
    }

    /// Whether the event is about something that the subscriber follows. An event that belongs to no request is for everybody.
    func matches(session: String?, client: ClientIdentity?) -> Bool {
        switch scope {
        case .all: true
        case .session(let name): session == nil || session == name
        case .mine(let identity): client == nil || client == identity
        }
    }

    /// Matches a glob whose only special character is the star: any number of any characters.
    private static func matches(_ name: Slice<UnsafeRawBufferPointer>, _ pattern: Substring.UTF8View) -> Bool {
        var (name, pattern) = (name, pattern)
        var retry: (name: Slice<UnsafeRawBufferPointer>, pattern: Substring.UTF8View)?
        while !name.isEmpty {
            if pattern.first == UInt8(ascii: "*") {
                pattern = pattern.dropFirst()
                retry = (name, pattern)
            } else if pattern.first == name.first {
                (name, pattern) = (name.dropFirst(), pattern.dropFirst())
            } else if let last = retry {
                // The star takes one character more.
                (name, pattern) = (last.name.dropFirst(), last.pattern)
                retry = (name, pattern)
            } else {
                return false
            }
        }
        return pattern.allSatisfy { $0 == UInt8(ascii: "*") }
    }
}

/// One subscription of one connection.
final class Subscription {
    let id: String
    let filter: EventFilter
    /// Events that were dropped because the client does not read, since it was last told.
    var dropped = 0

    init(id: String, filter: EventFilter) {
        self.id = id
        self.filter = filter
    }
}
