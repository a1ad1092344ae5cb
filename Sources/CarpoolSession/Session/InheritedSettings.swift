internal import CarpoolHTTP

/// The settings of connections that a session's requests inherit, by origin: to make and hash them for each request
/// costs 5 to 10 % of a request.
struct InheritedSettings {
    private var known: [Origin: ConnectionSettings?] = [:]

    /// The most origins; beyond that all are made again.
    private static let maximumOrigins = 16

    /// The settings for an origin, which are made if they are not known.
    mutating func settings(for origin: Origin, _ make: () -> ConnectionSettings?) -> ConnectionSettings? {
        if let settings = known[origin] { return settings }
        if known.count >= InheritedSettings.maximumOrigins { known.removeAll(keepingCapacity: true) }
        let settings = make()
        known[origin] = .some(settings)
        return settings
    }
}
