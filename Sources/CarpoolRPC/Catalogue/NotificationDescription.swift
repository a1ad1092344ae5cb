public import CarpoolJSON

/// A notification that the daemon sends.
public struct NotificationDescription: Sendable {
    /// The method's name.
    public let name: String
    /// When it is sent, in one sentence.
    public let summary: String
    /// The details.
    public let description: String
    /// Its parameters.
    public let params: JSONSchema
    /// An example, as JSON.
    public let example: String
    /// The types of events that it carries.
    public let types: [EventDescription]
}
