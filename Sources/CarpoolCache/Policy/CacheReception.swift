public import CarpoolHTTP

/// What is done with a head of the origin.
public enum CacheReception {
    /// The response passes on to the caller as it comes, and the store changes.
    case deliver(CacheStoring)
    /// A 304 made a stored response valid, which is served; the body of the 304 is not read.
    case update(CacheUpdate)
    /// A stored response is served in place of the origin's failure; the rest of its response is not read.
    case serve(CacheAnswer)
    /// The response cannot be used (HV-03): the request is sent once more, with these fields.
    case sendAgain([HTTPField])
}
