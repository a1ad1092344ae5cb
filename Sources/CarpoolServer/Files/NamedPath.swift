/// A path and the parameter that it stands in.
struct NamedPath: Sendable {
    let place: String
    let path: String
}
