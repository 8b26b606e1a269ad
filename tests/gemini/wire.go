package gemini

// Part is one piece of a turn. Thought marks the model's own notes, which are no answer.
type Part struct {
	Text    string `json:"text,omitempty"`
	Thought bool   `json:"thought,omitempty"`
}

// Content is one turn: role "user" or "model" and its parts.
type Content struct {
	Parts []Part `json:"parts,omitempty"`
	Role  string `json:"role,omitempty"`
}

// Text joins the parts.
func (c Content) Text() string {
	text := ""
	for _, p := range c.Parts {
		text += p.Text
	}
	return text
}

// Candidate is one answer, or the next piece of it in a stream.
type Candidate struct {
	Content      *Content `json:"content,omitempty"`
	FinishReason string   `json:"finishReason,omitempty"`
	Index        int      `json:"index"`
	// ContinuationToken (base64) invites the client to ask for the rest in another request.
	ContinuationToken string `json:"continuationToken,omitempty"`
}

// PromptFeedback says why the service refused the prompt.
type PromptFeedback struct {
	BlockReason string `json:"blockReason,omitempty"`
}

// Usage counts tokens. In a stream each chunk carries the total so far.
type Usage struct {
	PromptTokenCount     int `json:"promptTokenCount"`
	CandidatesTokenCount int `json:"candidatesTokenCount,omitempty"`
	ThoughtsTokenCount   int `json:"thoughtsTokenCount,omitempty"`
	TotalTokenCount      int `json:"totalTokenCount"`
}

// Chunk is the body of generateContent, or one event of streamGenerateContent.
type Chunk struct {
	Candidates     []Candidate     `json:"candidates,omitempty"`
	PromptFeedback *PromptFeedback `json:"promptFeedback,omitempty"`
	UsageMetadata  *Usage          `json:"usageMetadata,omitempty"`
	ModelVersion   string          `json:"modelVersion,omitempty"`
	ResponseID     string          `json:"responseId,omitempty"`
}

// status is the error object of Google's services.
type status struct {
	Code    int              `json:"code"`
	Message string           `json:"message"`
	Status  string           `json:"status"`
	Details []map[string]any `json:"details,omitempty"`
}

type failure struct {
	Error status `json:"error"`
}

type embedding struct {
	Values []float32 `json:"values"`
}

// generateBody and embedBody name every field that the product may send; any other is refused, as
// the real service refuses a field it does not know.
type generateBody struct {
	Contents          []Content         `json:"contents"`
	SystemInstruction *Content          `json:"systemInstruction"`
	GenerationConfig  *GenerationConfig `json:"generationConfig"`
}

// GenerationConfig holds the settings of a generation as they were sent.
type GenerationConfig struct {
	MaxOutputTokens int             `json:"maxOutputTokens"`
	Temperature     *float64        `json:"temperature"`
	CandidateCount  int             `json:"candidateCount"`
	ThinkingConfig  *ThinkingConfig `json:"thinkingConfig"`
}

// ThinkingConfig is how much the model may think; the budget is nil when it was not sent.
type ThinkingConfig struct {
	ThinkingBudget  *int   `json:"thinkingBudget"`
	ThinkingLevel   string `json:"thinkingLevel"`
	IncludeThoughts bool   `json:"includeThoughts"`
}

type embedBody struct {
	Model                string  `json:"model"`
	Content              Content `json:"content"`
	TaskType             string  `json:"taskType"`
	Title                string  `json:"title"`
	OutputDimensionality int     `json:"outputDimensionality"`
}

type batchBody struct {
	Requests []embedBody `json:"requests"`
}
