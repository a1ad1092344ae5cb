internal import CarpoolHTTP

/// The credentials of a session by protection space, for requests without a credential of their own (HA-01).
public struct SessionCredentials {
    /// The credential of one space.
    public struct Entry {
        /// Where it is valid.
        public let space: ProtectionSpace
        /// The user and the password.
        public let credential: PasswordCredential
        /// Whether it is part of the session's configuration. Otherwise it was set afterwards.
        public let isOfConfiguration: Bool
        /// An object that lives as long as the entry, such as its share of a quota.
        let account: AnyObject?

        /// Makes an entry.
        public init(
            _ credential: PasswordCredential, for space: ProtectionSpace, isOfConfiguration: Bool = true,
            account: AnyObject? = nil
        ) {
            self.space = space
            self.credential = credential
            self.isOfConfiguration = isOfConfiguration
            self.account = account
        }
    }

    /// The most entries: each request and each challenge looks through them.
    public static let maximumCount = 64

    /// The most specific first.
    public private(set) var entries: [Entry] = []

    /// Makes an empty list.
    public init() {}

    /// Whether there is room for the credential of a space.
    public func hasRoom(for space: ProtectionSpace) -> Bool {
        entries.count < SessionCredentials.maximumCount || entries.contains { $0.space == space }
    }

    /// Adds an entry. Returns the one of the same space, which it replaces.
    @discardableResult public mutating func set(_ entry: Entry) -> Entry? {
        let old = remove(entry.space)
        let place = entries.firstIndex { $0.space.specificity < entry.space.specificity }
        entries.insert(entry, at: place ?? entries.endIndex)
        return old
    }

    /// Removes the entry of a space, and returns it; `nil` if there is none.
    public mutating func remove(_ space: ProtectionSpace) -> Entry? {
        entries.firstIndex { $0.space == space }.map { entries.remove(at: $0) }
    }

    /// The entries for an origin with all their realms, the most specific first.
    func all(for origin: Origin) -> [Entry] { entries.filter { $0.space.contains(origin) } }

    /// The most specific entry for a realm of an origin.
    /// - Parameter realm: `nil` if it is unknown: then only entries for every realm are found.
    func entry(for origin: Origin, realm: String?) -> Entry? {
        entries.first { ($0.space.realm == nil || $0.space.realm == realm) && $0.space.contains(origin) }
    }
}

extension SessionCredentials: Equatable {
    /// Whether spaces and credentials are the same.
    public static func == (a: SessionCredentials, b: SessionCredentials) -> Bool {
        a.entries.elementsEqual(b.entries) { $0.space == $1.space && $0.credential == $1.credential }
    }
}
